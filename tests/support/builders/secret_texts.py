"""Fake secrets, made of parts so that no file holds one, and innocent texts that look a little like them."""

import random
from string import ascii_letters, digits, hexdigits

WORD = ascii_letters + digits
RANDOM = random.Random(7)


def some(count: int, alphabet: str = WORD) -> str:
    return "".join(RANDOM.choice(alphabet) for _ in range(count))


HEX = hexdigits[:16]
DASHES = "-" * 5
KEY_BODY = "\n".join(some(64) for _ in range(6))


def private_key(kind: str = "RSA ", body: str = KEY_BODY) -> str:
    return f"{DASHES}BEGIN {kind}PRIVATE KEY{DASHES}\n{body}\n{DASHES}END {kind}PRIVATE KEY{DASHES}"


def text(before: str, secret: str, after: str = "") -> tuple[str, str]:
    return before + secret + after, secret


# rule -> texts, each with what must not be left of it
SECRETS: dict[str, list[tuple[str, str]]] = {
    "private-key": [
        text("a\n", private_key(), "\nb"),
        text("a\n", private_key("EC ")),
        text("", private_key("")),
        text("", private_key("OPENSSH ")[:200]),
        text('"', private_key().replace("\n", "\\n"), '"'),
        text("", private_key("RSA ", f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{some(32, HEX)}\n\n{KEY_BODY}")),
        text("", private_key("PGP ").replace("KEY", "KEY BLOCK")),
    ],
    "aws-key-id": [text("id: ", "AKIA" + some(16, "ABCDEFGH234567"), ".")],
    "aws-secret": [
        text("aws_secret_access_key = ", some(39, WORD + "/+") + "a"),
        text('"awsSecretKey": "', some(40), '"'),
    ],
    "github": [text("x ", f"gh{kind}_" + some(36)) for kind in "pousr"]
    + [text("", "github_" + "pat_" + some(22) + "_" + some(59))],
    "gitlab": [text("", "glpat" + "-" + some(20))],
    "slack": [text("", "xox" + "b-" + some(12, digits) + "-" + some(12, digits) + "-" + some(24))],
    "slack-hook": [text("", "https://hooks.slack" + ".com/services/T" + some(8) + "/B" + some(8) + "/" + some(24))],
    "stripe": [text("", "sk" + "_live_" + some(24)), text("", "rk" + "_live_" + some(24))],
    "anthropic": [text("", "sk" + "-ant-api03-" + some(80, WORD + "-_") + "AA")],
    "openai": [text("", "sk" + "-proj-" + some(60)), text("with ", "sk" + "-" + some(48), ",")],
    "google": [text("", "AIza" + some(35)), text("", "ya29" + "." + some(60))],
    "azure-key": [text("AccountName=a;AccountKey=", some(86) + "==", ";EndpointSuffix=b")],
    "npm": [text("", "npm" + "_" + some(36))],
    "pypi": [text("", "pypi" + "-" + some(120))],
    "docker": [text("", "dckr" + "_pat_" + some(27))],
    "hugging-face": [text("", "hf" + "_" + some(34))],
    "sendgrid": [text("", "SG" + "." + some(22) + "." + some(43))],
    "twilio": [text("", "SK" + some(32, HEX))],
    "digitalocean": [text("", "dop" + "_v1_" + some(64, HEX))],
    "databricks": [text("", "dapi" + some(32, HEX))],
    "shopify": [text("", "shpat" + "_" + some(32, HEX))],
    "vault": [text("", "hvs" + "." + some(24))],
    "telegram": [text("see ", "123456789" + ":AA" + some(33))],
    "jwt": [text("", "eyJ" + some(30) + ".eyJ" + some(60) + "." + some(43, WORD + "-_"))],
    "connection-string": [
        text("postgres://app:", "hunter2", "@db.example:5432/app"),
        text("redis://:", "hunter2", "@cache:6379/0"),
        text("mongodb+srv://app:", "p%40ss-word", "@cluster.example/?retryWrites=true"),
        text("https://user:", some(20), "@example.org/x.git"),
    ],
    "authorization": [
        text("Authorization: Basic ", some(20) + "=="),
        text("-H 'authorization: bearer ", some(30), "'"),
        text('{"Authorization": "Bearer ', some(30), '"}'),
    ],
    "bearer": [text("send Bearer ", some(30))],
    "assignment": [
        text("A=1\nDB_PASSWORD=", "correcthorse", "\nB=2"),
        text("export API_KEY='", some(20), "'"),
        text('docker run -e SECRET_TOKEN="', some(12), '" image'),
        text("MY_CREDENTIALS=", "öffne-dich", " # so"),
    ],
    "quoted-password": [
        text('{"password": "', "correcthorse", '"}'),
        text("password='", "hunter22", "')"),
        text('{\\"clientSecret\\": \\"', "correcthorse", '\\"}'),
        text("passwd => '", "hunter22", "'"),
    ],
    "quoted-key": [
        text('{"api_key": "', some(30) + "1a", '"}'),
        text('const accessToken = "', some(30) + "1a", '"'),
    ],
    "bare-password": [text("db:\n  password: ", "hunter22!", "\n"), text("?a=1&password=", "hunter22", "&b=2")],
    "bare-key": [text("api_key: ", some(30) + "1a", "\n"), text("/x?token=", some(30) + "1a", "&b=2")],
}  # fmt: skip
CASES = [(rule, whole, secret) for rule, cases in SECRETS.items() for whole, secret in cases]

INNOCENTS = [
    "",
    "The password is required.",
    "commit " + some(40, HEX),
    "index " + some(7, HEX) + ".." + some(7, HEX) + " 100644",
    "id: 123e4567-e89b-12d3-a456-426614174000",
    "data:image/png;base64," + some(4_000, WORD + "+/") + "==",
    '"integrity": "sha512-' + some(86, WORD + "+/") + '==",',
    "sha256:" + some(64, HEX),
    "password = get_password()",
    "password=self.password, token=token)",
    'password = os.environ["DB_PASSWORD"]',
    'api_key = os.getenv("OPENAI_API_KEY")',
    "const apiKey = process.env.API_KEY_2;",
    '"password": "<your password>"',
    '"password": "********"',
    '"password": ""',
    '"password": null, "token": true',
    "PASSWORD=",
    "API_KEY=your-api-key-here",
    "API_KEY=${API_KEY}",
    "API_KEY=$API_KEY",
    "API_KEY=<key>",
    "TOKEN=$(cat token.txt)",
    "API_KEY=xxxxxxxxxxxx",
    "API_KEY=sk-...",
    "PWD=/home/somebody/project",
    "MAX_TOKENS=100000",
    '"input_tokens": 1234567, "max_tokens": 200000',
    "def login(user: str, password: str | None = None) -> Token:",
    "interface Login { password: string; token: string }",
    'tokenizer = "o200k_base_and_something_9"',
    'for key in keys: print(key, "some_dictionary_key_2")',
    '{"key": "content-type"}',
    "!function(e,t){var n={key:e1,token:t2};return n.key=t.password,e.secret=n}(a,b);",
    "http://localhost:8080/path@2x.png",
    "https://example.org:443/a?b=c@d",
    "postgres://user:password@localhost/db",
    "postgres://$USER:$PASSWORD@localhost/db",
    "git@github.com:someone/project.git",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${TOKEN}",
    "a bearer of bad news and great tidings",
    "task-" + some(40),
    "desk-lamp and sk-learn",
    "the line -----BEGIN PRIVATE KEY----- begins a key",
    'if text.startswith("-----BEGIN RSA PRIVATE KEY-----"): return True',
    "fetch(url, {credentials: 'same-origin'})",
    'e=>{let t="password"===e.field_type2',
    'console.error("no token:",e),show.error1("no key: "+e)',
    "connect(s3_aws_session_token=s3_aws_session_token)",
    'client_secret: "GOOGLE_CLIENT_SECRET"',
    "AKIA" + "IOSFODNN7EXAMPLE",
    "[redacted: github]",
    "\ud800 half a pair \udfff",
]
