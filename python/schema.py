"""Writes `evalreport/schema.py`, the types of the answers, from `docs/schemas`. With `--check` it only compares.

The types are dictionaries with known keys, so answers of later versions, which may have more keys, stay valid.
"""

import json
import keyword
import sys
import textwrap
from pathlib import Path
from typing import Any, Dict, List, Tuple

HERE = Path(__file__).resolve().parent
SCHEMAS = HERE.parent / "docs" / "schemas"
OUT = HERE / "evalreport" / "schema.py"
ANSWERS = {
    "compare": "CompareAnswer",
    "leaderboard": "LeaderboardAnswer",
    "gate": "GateAnswer",
    "gate-plan": "GatePlanAnswer",
    "gate-decide": "GateDecideAnswer",
    "records": "RecordsAnswer",
}
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEAD = '''"""Types of the answers' JSON. Written by `python/schema.py` from the schemas in `docs/schemas`.

Each type is a plain dictionary when the program runs. Keys of later versions may be there too.
"""

from typing import Any, Dict, List, Optional, TypedDict, Union

'''


def optional(kind: str) -> str:
    return kind if kind.startswith("Optional[") or kind == "Any" else f"Optional[{kind}]"


def union(kinds: List[str]) -> str:
    distinct = list(dict.fromkeys(kinds))
    rest = [kind for kind in distinct if kind != "None"]
    if not rest or "Any" in rest:
        return "Any"
    joined = rest[0] if len(rest) == 1 else f"Union[{', '.join(rest)}]"
    return optional(joined) if "None" in distinct else joined


def kind_of(schema: Any, known: Dict[str, str]) -> str:
    """Returns the annotation of a value. `known` are the definitions that are no dictionaries."""
    if not isinstance(schema, dict) or not schema:
        return "Any"
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[1]
        return known.get(name, name)
    for key in ("anyOf", "oneOf"):
        if key in schema and "properties" not in schema:
            return union([kind_of(one, known) for one in schema[key]])
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return union([kind_of({**schema, "type": one}, known) for one in kinds])
    if kinds == "array":
        parts = schema.get("prefixItems")
        items = union([kind_of(one, known) for one in parts]) if parts else kind_of(schema.get("items"), known)
        return f"List[{items}]"
    if kinds == "object":
        return f"Dict[str, {kind_of(schema.get('additionalProperties'), known)}]"
    return SCALARS.get(str(kinds), "Any")


def properties(schema: Dict[str, Any]) -> Tuple[Dict[str, Any], List[str]]:
    """Returns the keys of an object in all its forms, and the keys that every form has."""
    keys = dict(schema.get("properties", {}))
    required = list(schema.get("required", []))
    forms = [form for form in schema.get("oneOf", []) if "properties" in form]
    for form in forms:
        for key, value in form["properties"].items():
            known = keys.get(key)
            both = known is not None and known != value and "const" not in value
            keys[key] = {"anyOf": [known, value]} if both else value
    in_all = [key for key in keys if forms and all(key in form.get("required", []) for form in forms)]
    return keys, required + [key for key in in_all if key not in required]


def is_object(schema: Dict[str, Any]) -> bool:
    forms = schema.get("oneOf", [])
    return "properties" in schema or (bool(forms) and all("properties" in form for form in forms))


def lines_of(name: str, schema: Dict[str, Any], known: Dict[str, str]) -> List[str]:
    keys, required = properties(schema)

    def body(chosen: List[str]) -> List[str]:
        lines = []
        for key in chosen:
            # A key of any value has no description.
            text = keys[key].get("description", "") if isinstance(keys[key], dict) else ""
            lines += [f"    # {line}" for line in textwrap.wrap(text, 110)]
            lines.append(f"    {key}: {kind_of(keys[key], known)}")
        return lines

    # Python 3.8 has no `NotRequired`: required keys have a class of their own.
    optionals = [key for key in keys if key not in required]
    text = schema.get("description", "").replace("[`super::", "[`").strip()
    document = [f'    """{line}' if place == 0 else f"    {line}" for place, line in enumerate(textwrap.wrap(text, 108))]
    if document:
        document[-1] += '"""'
        document.append("")
    if any(keyword.iskeyword(key) for key in keys):
        # Such a key is no attribute of a class.
        if optionals:
            raise SystemExit(f"{name} has a keyword as a key, and optional keys")
        comment = [f"# {line}" for line in textwrap.wrap(text, 114)]
        pairs = [f'        "{key}": {kind_of(keys[key], known)},' for key in keys]
        return [*comment, f"{name} = TypedDict(", f'    "{name}",', "    {", *pairs, "    },", ")", "", ""]
    if not optionals:
        return [f"class {name}(TypedDict):", *document, *body([key for key in keys if key in required]), "", ""]
    lines = []
    parent = "TypedDict"
    if required:
        parent = f"_{name}"
        lines = [f"class {parent}(TypedDict):", *body([key for key in keys if key in required]), "", ""]
    return [*lines, f"class {name}({parent}, total=False):", *document, *body(optionals), "", ""]


def ordered(definitions: Dict[str, Any]) -> List[str]:
    """Orders definitions so that each comes after those that it names."""
    done: List[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        text = json.dumps(definitions[name])
        for other in definitions:
            if other != name and f'"#/$defs/{other}"' in text:
                visit(other)
        done.append(name)

    for name in definitions:
        visit(name)
    return done


def written() -> str:
    definitions: Dict[str, Any] = {}
    for file, name in ANSWERS.items():
        schema = json.loads((SCHEMAS / f"{file}.json").read_text(encoding="utf-8"))
        for key, value in schema.pop("$defs").items():
            if definitions.setdefault(key, value) != value:
                raise SystemExit(f"{file}.json: `{key}` differs from the definition of that name in another schema")
        definitions[name] = schema
    known: Dict[str, str] = {}
    lines: List[str] = []
    for name in ordered(definitions):
        schema = definitions[name]
        if is_object(schema):
            lines += lines_of(name, schema, known)
        else:
            known[name] = kind_of(schema, known)
    text = HEAD + "\n" + "\n".join(lines).rstrip() + "\n"
    used = [name for name in ("Any", "Dict", "List", "Optional", "TypedDict", "Union") if f"{name}[" in text or f" {name}\n" in text or f"({name}" in text or f"[{name}" in text]
    return text.replace("import Any, Dict, List, Optional, TypedDict, Union", "import " + ", ".join(used))


def main() -> None:
    text = written()
    if "--check" in sys.argv:
        if OUT.read_text(encoding="utf-8") != text:
            raise SystemExit(f"{OUT} is outdated: run python {Path(__file__).name}")
    else:
        OUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
