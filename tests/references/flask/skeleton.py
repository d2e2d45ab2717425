"""A start for suites/flask, and a floor for its scores: the service answers, makes links without any check, and redirects."""

import argparse
import secrets

from flask import Flask, jsonify, redirect, request

app = Flask(__name__)
links = {}


@app.get("/health")
def health():
    return jsonify(status="ok")


@app.post("/api/links")
def create():
    body = request.get_json()
    code = body.get("code") or secrets.token_hex(3)
    links[code] = {"code": code, "url": body.get("url"), "title": body.get("title") or "", "clicks": 0}
    return jsonify(links[code]), 201


@app.get("/api/links/<code>")
def read(code):
    return jsonify(links[code]) if code in links else (jsonify(error="not found"), 404)


@app.get("/<code>")
def follow(code):
    return redirect(links[code]["url"]) if code in links else ("not found", 404)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    app.run(host="127.0.0.1", port=parser.parse_args().port)
