// Requests to GitHub's API: retried if the service fails, and never with the token in a message.

import { oneLine } from "./text.mjs";

const TRIES = 5;
const TIMEOUT = 30_000;
/** A limit that ends later than this is not waited for. */
const LONGEST_WAIT = 120_000;
/** The first wait in milliseconds. It doubles. */
const firstWait = () => Number(process.env.EVALREPORT_ACTION_WAIT_MS || 1000);

/** An answer of the service other than success. `status` is 0 if there was none. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }

  /** Says whether the token lacks rights, as those of forks do. */
  get isRights() {
    return [401, 403, 404].includes(this.status);
  }
}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Returns how long the service asks to wait, or `undefined`. */
function askedWait(headers) {
  if (headers.get("retry-after")) {
    return Number(headers.get("retry-after")) * 1000;
  }
  if (headers.get("x-ratelimit-remaining") === "0") {
    return Math.max(0, Number(headers.get("x-ratelimit-reset")) * 1000 - Date.now());
  }
  return undefined;
}

export class GitHub {
  constructor({ api, token, log }) {
    this.api = api.replace(/\/+$/, "");
    this.token = token;
    this.log = log;
  }

  /** Makes one request. Throws `Refused`, with `wait` if it may succeed later. */
  async once(method, path, body) {
    let response;
    try {
      response = await fetch(`${this.api}${path}`, {
        method,
        headers: {
          accept: "application/vnd.github+json",
          authorization: `Bearer ${this.token}`,
          "user-agent": "evalreport-action",
          "x-github-api-version": "2022-11-28",
          ...(body && { "content-type": "application/json" }),
        },
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT),
      });
    } catch (error) {
      throw Object.assign(new Refused(0, `no answer (${oneLine(error.cause?.code ?? error.name)})`), { wait: undefined, again: true });
    }
    if (response.ok) {
      return response;
    }
    const text = await response.text().catch(() => "");
    let message = "";
    try {
      message = JSON.parse(text).message ?? "";
    } catch {
      // Not the API's own words, such as a proxy's page.
    }
    const wait = askedWait(response.headers);
    const isLimit = response.status === 429 || (response.status === 403 && wait !== undefined);
    const refused = new Refused(response.status, `${response.status} ${oneLine(message)}`.trim());
    throw Object.assign(refused, { wait, again: response.status >= 500 || isLimit });
  }

  /** Does `work` until it succeeds, with growing waits. `work` must do no harm if it is done twice. */
  async retried(what, work) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const wait = error.wait ?? firstWait() * 2 ** (attempt - 1);
        if (!error.again || attempt === TRIES || wait > LONGEST_WAIT) {
          throw error;
        }
        this.log(`${what}: ${error.message}; attempt ${attempt + 1} of ${TRIES} follows`);
        await sleep(wait);
      }
    }
  }

  /** Reads JSON. */
  async read(path) {
    return this.retried("read", async () => (await this.once("GET", path)).json());
  }

  async bytes(path) {
    return this.retried("download", async () => Buffer.from(await (await this.once("GET", path)).arrayBuffer()));
  }

  /** Returns the id of our comment: written by `author`, and with our first lines. */
  async ours(repository, number, { author, begins }) {
    for (let page = 1; page <= 100; page += 1) {
      const comments = await (await this.once("GET", `/repos/${repository}/issues/${number}/comments?per_page=100&page=${page}`)).json();
      const own = comments.find(({ user, body }) => user?.login === author && begins(String(body ?? "").replaceAll("\r\n", "\n")));
      if (own) {
        return own.id;
      }
      if (comments.length < 100) {
        return undefined;
      }
    }
    return undefined;
  }

  /** Updates our comment, or writes it. Every attempt looks first: a failed request may have been carried out. */
  async comment(repository, number, body, who) {
    return this.retried("comment", async () => {
      const id = await this.ours(repository, number, who);
      if (id === undefined) {
        await this.once("POST", `/repos/${repository}/issues/${number}/comments`, { body });
        return "created";
      }
      await this.once("PATCH", `/repos/${repository}/issues/comments/${id}`, { body });
      return "updated";
    });
  }
}
