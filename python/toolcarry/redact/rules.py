"""Rules that describe secrets: data, in the common subset of RE2 and Python's ``re``.

Rules are matched on UTF-8. Only the rule for private keys matches across lines. No rule needs backtracking: each is
linear with RE2, and safe with Python's ``re`` if lines are short.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["DEFAULT_REDACTION_RULES", "RedactionRule"]


@dataclass(frozen=True, slots=True)
class RedactionRule:
    """A rule for one kind of secret.

    ``name``: the name in counts and in the mark ``[redacted: name]`` that replaces the secret.
    ``pattern``: a regular expression in RE2 syntax; its group ``secret`` is replaced, or the whole match if there is no
    such group.
    ``keywords``: the pattern is tried only on texts that contain one of these, in any case; if empty, on all texts.
    ``unless``: a regular expression for false positives: if it matches a whole match of ``pattern``, that is not a
    secret.

    >>> RedactionRule("badge", r"badge (?P<secret>[0-9]{6})", keywords=("badge",)).name
    'badge'
    """

    name: str
    pattern: str
    keywords: tuple[str, ...] = ()
    unless: str = ""


def token(name: str, pattern: str, *keywords: str) -> RedactionRule:
    """Make a rule for a token that is recognised by its own shape, wherever it begins: ``my_ghp_...``, ``tokenghp_...``."""
    return RedactionRule(name, rf"(?P<secret>{pattern})", keywords)


# Placeholders and templates for values: <your key>, ${KEY}, $KEY, {{ key }}, %KEY%, xxxx, ****, ...., [your key].
PLACEHOLDER: Final = (
    r"(?i:[<\[({%$].*|.*[.][.][.].*|.*\$[{(].*|[x*.•_-]+|(?:x{4,}|\*{3,}).*|.*(?:x{4,}|\*{3,})"
    r"|(?:your|my|the|an?|some|fake|dummy|test|example|sample|placeholder|change|insert|replace|redacted|removed|hidden"
    r"|not|no)(?:[_ -].*)?|.*[_-](?:here|goes-here)|changeme|password|secret|required|optional|undefined|string"
    r"|same-origin|include|use-credentials)|[A-Z]+(?:_[A-Z0-9]+)+"
)
# Calls and look-ups: get_password(), os.environ["KEY"], config["key"], a.b(c), process.env.KEY.
CODE: Final = r"[A-Za-z_$][\w$.:>-]*[(\[].*|(?:os|process|self|this|config|settings|env|args|options|request|req|ctx)[.].*"
# Paths and addresses, which are ordinary values of names such as PWD or token_url.
PLACE: Final = r"(?:[.~]{0,2}/|[A-Za-z]:\\).*|[a-z][a-z0-9+.-]*://.*"
NUMBER: Final = r"[-+]?[0-9][0-9_,.]*(?:e[0-9]+)?|(?i:true|false|null|none|nil)"
# Names, types and words, which contain no digit.
WORD: Final = r"[A-Za-z_$@#&|!?:;,./\\ -]*"
NAMED: Final = (
    r"[A-Za-z_]+(?:[_.:/-][A-Za-z0-9]{1,12})*|[A-Za-z_]+[0-9]{0,2}(?:[_.]+[A-Za-z]+[0-9]{0,2})+"
)

PASSWORDS: Final = r"(?i)(?:password|passwd|pwd|passphrase|secret|credential)"
KEYS: Final = r"(?i)(?:key|token)"
AFTER: Final = r"s?(?:(?:[_-]|(?-i:[A-Z]))[\w-]{0,40})?"
"""The rest of a name after the keyword; it excludes ``keyboard`` and ``tokenizer``."""
NAMES: Final = ("key", "token", "secret", "password", "passwd", "pwd", "passphrase", "credential")
IS: Final = r"""\\?["']?[ \t]{0,8}(?::?=|:|=>)[ \t]{0,8}"""


def either(*patterns: str) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


DEFAULT_REDACTION_RULES: Final = (
    RedactionRule(
        "private-key",
        # Key data must follow within a few characters: source code often contains only the BEGIN line.
        r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----[\x00-\x7f]{0,160}?[A-Za-z0-9+/]{24}"
        r"(?:[\s\S]*?-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*))",
        ("private key",),
    ),
    RedactionRule(
        "aws-key-id",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}",
        ("akia", "asia", "abia", "acca"),
        unless=".*EXAMPLE",
    ),
    RedactionRule(
        "aws-secret",
        r"(?i)aws[\w ./-]{0,40}?(?:secret|sk|key)[\w-]{0,30}[\"']?[ \t]{0,8}(?:=>|=|:)[ \t]{0,8}[\"']?"
        r"(?P<secret>[A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
        ("aws",),
    ),
    token(
        "github",
        r"(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
    ),
    token(
        "gitlab",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,}",
        "glpat-",
        "gldt-",
        "glrt-",
        "glcbt-",
        "glptt-",
        "glft-",
        "glsoat-",
    ),
    token(
        "slack",
        r"xox[abeoprs](?:-[A-Za-z0-9]{1,255}){2,}|xapp-[0-9]-[A-Za-z0-9-]{20,}",
        "xox",
        "xapp-",
    ),
    token(
        "slack-hook",
        r"https://hooks[.]slack[.]com/(?:services|workflows|triggers)/[A-Za-z0-9/+_-]{20,}",
        "hooks.slack.com",
    ),
    token(
        "stripe",
        r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
        "sk_live_",
        "sk_test_",
        "rk_live_",
        "rk_test_",
        "whsec_",
    ),
    token("anthropic", r"sk-ant-[A-Za-z0-9_-]{20,}", "sk-ant-"),
    token(
        "openai",
        # After a letter, a short one may be a name such as task-, disk- or risk- with a hash.
        r"sk-(?:proj-|svcacct-|admin-|or-v1-|None-)[A-Za-z0-9_-]{20,}|(?:\b|_)sk-[A-Za-z0-9]{32,}|sk-[A-Za-z0-9]{48}",
        "sk-",
    ),
    token(
        "google",
        r"(?:AIza[A-Za-z0-9_-]{35}|ya29[.][A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{28})",
        "aiza",
        "ya29.",
        "gocspx-",
    ),
    RedactionRule(
        "azure-key",
        r"(?i)(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})",
        ("accountkey=", "sharedaccesskey="),
    ),
    token("npm", r"npm_[A-Za-z0-9]{36}", "npm_"),
    token("pypi", r"pypi-[A-Za-z0-9_-]{50,}", "pypi-"),
    token("docker", r"dckr_[a-z]{2,5}_[A-Za-z0-9_-]{20,}", "dckr_"),
    token("hugging-face", r"(?:hf|api_org)_[A-Za-z0-9]{30,}", "hf_", "api_org_"),
    token("sendgrid", r"SG[.][A-Za-z0-9_-]{16,32}[.][A-Za-z0-9_-]{32,64}", "sg."),
    token("twilio", r"SK[0-9a-f]{32}", "sk"),
    token("digitalocean", r"do[opr]_v1_[0-9a-f]{64}", "doo_v1_", "dop_v1_", "dor_v1_"),
    token("databricks", r"dapi[0-9a-f]{32}(?:-[0-9])?", "dapi"),
    token("shopify", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", "shpat_", "shpca_", "shppa_", "shpss_"),
    token("vault", r"hv[sbr][.][A-Za-z0-9_-]{24,}", "hvs.", "hvb.", "hvr."),
    token("telegram", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", ":aa"),
    token("jwt", r"eyJ[A-Za-z0-9_-]{10,}[.]eyJ[A-Za-z0-9_-]{8,}[.][A-Za-z0-9_-]{10,}", "eyj"),
    RedactionRule(
        "connection-string",
        r"""[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/?#@"'<>`]{0,128}:(?P<secret>[^\s/?#@"'<>`]{1,256})@[\w\[$<{.-]""",
        ("://",),
        unless=either(r"(?i:[<\[({%$].*|\*+|x{3,}|[.]{3,}|pass|password|passwd|pwd|secret|your.*)"),
    ),
    RedactionRule(
        "authorization",
        r"(?i)authorization\\?[\"']?[ \t]{0,8}[:=][ \t]{0,8}\\?[\"']?(?:bearer|basic|token)[ \t]{1,8}"
        r"(?P<secret>[A-Za-z0-9+/_.~=-]{8,})",
        ("authorization",),
        unless=either(
            r"(?i:[.*x_-]+|(?:your|my)[_-].*|(?:token|api|access)(?:[_-].*)?)", "[A-Z]+(?:_[A-Z]+)+"
        ),
    ),
    RedactionRule(
        "bearer",
        r"[Bb]earer[ \t]{1,8}(?P<secret>[A-Za-z0-9+/_.~-]{20,}=*)",
        ("bearer",),
        unless=either(WORD),
    ),
    # NAME=value with any value, as in .env files and before commands.
    RedactionRule(
        "assignment",
        r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD|PASSPHRASE|CREDENTIAL)S?(?:_[A-Z0-9_]{0,40})?=\\?[\"']?"
        r"(?P<secret>[^\s\"'`;,&|\\]{6,})",
        NAMES,
        unless=either(PLACEHOLDER, CODE, PLACE, NUMBER),
    ),
    RedactionRule(
        "quoted-password",
        PASSWORDS + AFTER + IS + r"\\?[\"'](?P<secret>[^\s\"'\\,)][^\s\"'\\]{5,})\\?[\"']",
        NAMES,
        unless=either(PLACEHOLDER, PLACE, r"(?i:true|false)"),
    ),
    RedactionRule(
        "quoted-key",
        KEYS + AFTER + IS + r"\\?[\"'](?P<secret>[^\s\"'\\,;(){}<>]{16,})\\?[\"']",
        NAMES,
        unless=either(PLACEHOLDER, PLACE, NUMBER, WORD, NAMED),
    ),
    # YAML, INI, queries: a bare word may be a variable, so it is not redacted.
    RedactionRule(
        "bare-password",
        PASSWORDS
        + AFTER
        + IS
        + r"(?P<secret>[^\s\"'`;,&|\\<>(){}\[\]=?][^\s\"'`;,&|\\<>(){}\[\]]{5,})(?:[\s;,&|\\\"'`<]|$)",
        NAMES,
        unless=either(PLACEHOLDER, PLACE, NUMBER, WORD, NAMED, CODE),
    ),
    RedactionRule(
        "bare-key",
        KEYS
        + AFTER
        + IS
        + r"(?P<secret>[^\s\"'`;,&|\\<>(){}\[\]=?][^\s\"'`;,&|\\<>(){}\[\]]{15,})(?:[\s;,&|\\\"'`<]|$)",
        NAMES,
        unless=either(PLACEHOLDER, PLACE, NUMBER, WORD, NAMED, CODE),
    ),
)
