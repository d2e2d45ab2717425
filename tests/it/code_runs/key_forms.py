"""Writes keys in every form in which programs write text: each form with the part of it that stands for the key."""
import base64, binascii, html, json, os, quopri, shlex, urllib.parse


def wrapped(text, width, between):
    return between.join(text[start : start + width] for start in range(0, len(text), width))


def ascii_json(text):
    return json.dumps(text)[1:-1]


def plain_json(text):
    return json.dumps(text, ensure_ascii=False)[1:-1]


def repeated(function, times):
    def apply(text):
        for _ in range(times):
            text = function(text)
        return text

    return apply


def large_digits(text):
    parts = text.split("\\u")
    return parts[0] + "".join("\\u" + part[:4].upper() + part[4:] for part in parts[1:])


def in_pages(text):
    for letter in "<>&'":
        text = text.replace(letter, "\\u%04x" % ord(letter))
    return text


def based(text, before="", after="", alphabet=base64.b64encode):
    """Base64 of the key between others: what the others share in is not asked for."""
    whole = alphabet((before + text + after).encode()).decode()
    return whole, whole[(len(before) * 8 + 5) // 6 + 1 : -4]


def octal(text):
    def one(byte):
        letter = chr(byte)
        if letter in "\"\\":
            return "\\" + letter
        return {"\n": "\\n", "\t": "\\t"}.get(letter) or (letter if 32 <= byte < 127 else "\\%03o" % byte)

    return "".join(map(one, text.encode()))


def yaml(text):
    known = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    other = lambda code: "\\x%02X" % code if code < 256 else "\\u%04X" % code if code < 65536 else "\\U%08X" % code
    return "".join(known.get(x) or (x if " " <= x <= "~" else other(ord(x))) for x in text)


def backslashes(text):
    plain = "-_./:=@%+,"
    return "".join("\\" + x if x.isascii() and not x.isalnum() and x not in plain else x for x in text)


def percent(text, safe, lower=False):
    quoted = urllib.parse.quote(text, safe=safe)
    if not lower:
        return quoted
    parts = quoted.split("%")
    return parts[0] + "".join("%" + part[:2].lower() + part[2:] for part in parts[1:])


def digits(text, between=""):
    return between.join("%02x" % byte for byte in text.encode())


def base(text):
    return base64.b64encode(text.encode()).decode()


FORMS = {
    "plain": lambda text: text,
    "lines of Windows": lambda text: text.replace("\n", "\r\n"),
    "JSON": plain_json,
    "ASCII JSON": ascii_json,
    "ASCII JSON, large digits": lambda text: large_digits(ascii_json(text)),
    "JSON of PHP": lambda text: plain_json(text).replace("/", "\\/"),
    "ASCII JSON of PHP": lambda text: ascii_json(text).replace("/", "\\/"),
    "JSON of Go": lambda text: in_pages(plain_json(text.replace("'", "\0"))).replace("\\u0000", "'"),
    "JSON for pages": lambda text: in_pages(plain_json(text)),
    "JSON in JSON": repeated(plain_json, 2),
    "JSON in JSON in JSON": repeated(plain_json, 3),
    "JSON four times": repeated(plain_json, 4),
    "ASCII JSON in JSON": repeated(ascii_json, 2),
    "JSON in ASCII JSON": lambda text: ascii_json(plain_json(text)),
    "ASCII JSON three times": repeated(ascii_json, 3),
    "JSON in Python": lambda text: repr(plain_json(text))[1:-1],
    "JSON in HTML": lambda text: html.escape(plain_json(text)),
    "address": lambda text: percent(text, ""),
    "path of an address": lambda text: percent(text, "/"),
    "address, small digits": lambda text: percent(text, "", lower=True),
    "address of a browser": lambda text: percent(text, "-_.!~*'()"),
    "form of a browser": lambda text: urllib.parse.quote_plus(text),
    "address in an address": lambda text: percent(percent(text, ""), ""),
    "login in an address": lambda text: ("https://me:" + percent(text, "") + "@example.org/", percent(text, "")),
    "base64": based,
    "base64 of a login": lambda text: based(text, "user:"),
    "base64 at another offset": lambda text: based(text, "ab:", " and more"),
    "base64 at a third offset": lambda text: based(text, "a", "?"),
    "base64 with a line end": lambda text: based(text, after="\n"),
    "base64 for addresses": lambda text: based(text, alphabet=base64.urlsafe_b64encode),
    "base64 in an address": lambda text: (urllib.parse.quote(base(text), safe=""), urllib.parse.quote(base(text)[:-4], safe="")),
    "base64 in lines of 76": lambda text: wrapped(base(text), 76, "\n"),
    "base64 in short lines": lambda text: wrapped(base(text), 20, "\r\n"),
    "base64 in lines in JSON": lambda text: wrapped(base(text), 20, "\\n"),
    "base64 in lines in JSON in JSON": lambda text: wrapped(base(text), 20, "\\\\n"),
    "base64 as a block of YAML": lambda text: wrapped(base(text), 20, "\n      "),
    "hex": digits,
    "large hex": lambda text: digits(text).upper(),
    "hex with blanks": lambda text: digits(text, " "),
    "hex with colons": lambda text: digits(text, ":").upper(),
    "hex of a language": lambda text: digits("\0" + text, "\\x")[2:],
    "hex in lines": lambda text: wrapped(digits(text), 60, "\n"),
    "HTML": html.escape,
    "HTML with quotes": lambda text: html.escape(text, quote=False),
    "XML": lambda text: html.escape(text).replace("&#x27;", "&apos;"),
    "HTML of this program": lambda text: "".join("&#%d;" % ord(x) if x in "&<>\"'" else x for x in text),
    "ASCII HTML": lambda text: html.escape(text).encode("ascii", "xmlcharrefreplace").decode(),
    "ASCII XML": lambda text: "".join(x if x.isascii() else "&#x%X;" % ord(x) for x in html.escape(text, quote=False)),
    "shell": lambda text: shlex.quote(text).strip("'"),
    "shell, single quotes": lambda text: text.replace("'", "'\\''"),
    "shell, double quotes": lambda text: "".join("\\" + x if x in '"\\$`' else x for x in text),
    "shell, backslashes": backslashes,
    "C": octal,
    "YAML": lambda text: text.replace("'", "''"),
    "YAML, double quotes": yaml,
    "block of YAML": lambda text: text.replace("\n", "\n    "),
    "CSV": lambda text: text.replace('"', '""'),
    "Python": lambda text: repr(text)[1:-1],
    "ASCII of Python": lambda text: ascii(text)[1:-1],
    "bytes of Python": lambda text: repr(text.encode())[2:-1],
    "lines of 40": lambda text: wrapped(text, 40, "\n") if "\n" not in text else text,
    "lines of 16": lambda text: wrapped(text, 16, "\n    ") if "\n" not in text else text,
    "lines that go on": lambda text: wrapped(text, 16, "\\\n") if "\n" not in text else text,
    "quoted-printable": lambda text: quopri.encodestring(text.encode()).decode(),
    "coloured": lambda text: ("\x1b[31m" + text + "\x1b[0m", text),
    "UTF-16": lambda text: text.encode("utf-16-le"),
    "UTF-16 of networks": lambda text: text.encode("utf-16-be"),
    "Latin-1": lambda text: text.encode("latin-1", "ignore") if text.encode("latin-1", "ignore").decode("latin-1") == text else b"",
}


def forms(text):
    for name, function in FORMS.items():
        form = function(text)
        form, needle = form if isinstance(form, tuple) else (form, form)
        form, needle = (part if isinstance(part, bytes) else part.encode() for part in (form, needle))
        yield name, form, needle


if __name__ == "__main__":
    keys = [value for value in os.environ.values() if "canary" in value.lower()]
    found = [[name, binascii.hexlify(needle).decode()] for key in keys for name, _, needle in forms(key)]
    print(json.dumps({"forms": len(FORMS), "needles": found}))
