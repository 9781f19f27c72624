//! The language of a code block, by the extension of the file. The twin is `_pure/languages.py`.

use crate::text::Text;

const LONGEST_EXTENSION: usize = 8;

/// The language for `path`; empty where its extension says nothing.
#[must_use]
pub fn language_of(path: Text<'_>) -> &'static str {
    let size = path.len();
    let end = path.slice(size.saturating_sub(LONGEST_EXTENSION + 1), size);
    let mut room = [0; LONGEST_EXTENSION + 1];
    let units = narrow(end, &mut room);
    let Some(dot) = memchr::memrchr(b'.', units) else { return "" };
    match units.get(dot + 1..).unwrap_or_default() {
        b"bash" | b"sh" | b"zsh" => "bash",
        b"c" | b"h" => "c",
        b"clj" => "clojure",
        b"cc" | b"cpp" | b"cxx" | b"hpp" => "cpp",
        b"cs" => "csharp",
        b"css" => "css",
        b"dart" => "dart",
        b"diff" | b"patch" => "diff",
        b"ex" | b"exs" => "elixir",
        b"go" => "go",
        b"gradle" => "groovy",
        b"hs" => "haskell",
        b"tf" => "hcl",
        b"html" => "html",
        b"ini" => "ini",
        b"java" => "java",
        b"js" | b"mjs" => "javascript",
        b"json" | b"jsonl" => "json",
        b"jsx" => "jsx",
        b"jl" => "julia",
        b"kt" => "kotlin",
        b"tex" => "latex",
        b"less" => "less",
        b"lua" => "lua",
        b"md" => "markdown",
        b"ml" => "ocaml",
        b"pl" => "perl",
        b"php" => "php",
        b"ps1" => "powershell",
        b"proto" => "protobuf",
        b"py" | b"pyi" => "python",
        b"r" => "r",
        b"rst" => "rst",
        b"rb" => "ruby",
        b"rs" => "rust",
        b"scala" => "scala",
        b"scss" => "scss",
        b"sql" => "sql",
        b"svelte" => "svelte",
        b"swift" => "swift",
        b"toml" => "toml",
        b"tsx" => "tsx",
        b"ts" => "typescript",
        b"vue" => "vue",
        b"xml" => "xml",
        b"yaml" | b"yml" => "yaml",
        b"zig" => "zig",
        _ => "",
    }
}

/// The text in single bytes; a wider code point becomes one that no extension has.
fn narrow<'a>(text: Text<'_>, room: &'a mut [u8; LONGEST_EXTENSION + 1]) -> &'a [u8] {
    for (index, slot) in room.iter_mut().enumerate() {
        *slot = text.get(index).and_then(|code_point| u8::try_from(code_point).ok()).unwrap_or(0);
    }
    room.get(..text.len()).unwrap_or_default()
}
