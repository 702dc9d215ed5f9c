import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { BackgroundTasks } from "../../../src/agent/background/background-tasks.ts";
import { outputDirectory } from "../../../src/agent/background/output-file.ts";
import type { ToolContext, ToolResult } from "../../../src/agent/tool.ts";
import { webFetchTool } from "../../../src/agent/tools/web-fetch.ts";
import { webPage } from "../../../src/agent/tools/web-page.ts";
import { guardedLookup, RefusedAddress } from "../../../src/os/net/safe-lookup.ts";
import { eventually } from "../../support/timing/eventually.ts";

let cwd: string;
let context: ToolContext;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "teams-web-"));
  context = {
    cwd,
    env: { HOME: cwd },
    signal: new AbortController().signal,
    seenFiles: new Map(),
    background: new BackgroundTasks({ cwd, secrets: [] }),
    mayConnect: () => true,
  };
});
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
  rmSync(join(outputDirectory(cwd), ".."), { recursive: true, force: true });
});

type Answer = Parameters<typeof createServer>[1] & object;

/** Starts a loopback server and returns its URL, without a slash at the end. */
async function serve(answer: Answer): Promise<string> {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const says =
  (body: string | Buffer, type = "text/html; charset=utf-8", status = 200): Answer =>
  (_, response) => {
    response.writeHead(status, { "content-type": type }).end(body);
  };

const get = (url: string, more: Partial<ToolContext> = {}): Promise<ToolResult> =>
  webFetchTool.execute({ url }, { ...context, ...more });

describe("WebFetch tool", () => {
  test("converts HTML to text with headings, lists, tables, code and links", async () => {
    const url = await serve(
      says(
        `<!doctype html><title>t</title><style>b{}</style><body><h2>Head &amp; tail</h2>
         <p>Some <b>bold</b>, <code>code</code>, a <a href="next?a=1">link</a> and <a href="#x">none</a>.</p>
         <pre><code class="language-js">let a = 1;\n\n  b</code></pre>
         <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
         <ul><li>one<ol><li>sub</li></ol></li></ul><script>evil()</script><img src="x" alt="picture"></body>`,
      ),
    );
    const { content, isError } = await get(`${url}/dir/page`);
    expect(isError).toBe(false);
    expect(content).toBe(
      [
        `${url}/dir/page (200, text/html)\n`,
        "## Head & tail\n",
        `Some bold, \`code\`, a link (${url}/dir/next?a=1) and none.\n`,
        "```\nlet a = 1;\n\n  b\n```\n",
        "| a | b",
        "| 1 | 2\n",
        " * one\n   1. sub",
      ].join("\n"),
    );
  });

  test.each<[string, string, string]>([
    ["text/plain", "a <b> c\n", "a <b> c\n"],
    ["application/json", '{"a":1}', '{"a":1}'],
    ["text/markdown", "# a", "# a"],
    ["", "words", "words"],
  ])("returns a page of type %j unchanged", async (type, body, text) => {
    const url = await serve((_, response) => {
      response.writeHead(200, type === "" ? {} : { "content-type": type }).end(body);
    });
    expect((await get(url)).content.split("\n\n").slice(1).join("\n\n")).toBe(text);
  });

  test.each<[string, Buffer, string]>([
    ["text/plain; charset=iso-8859-1", Buffer.from("caf\xe9", "latin1"), "café"],
    ["text/html", Buffer.from('<meta charset="windows-1251"><p>\xcc\xe8\xf0', "latin1"), "Мир"],
    ["text/plain; charset=nonsense", Buffer.from("café"), "café"],
  ])("decodes a page by its character set: %s", async (type, body, text) => {
    const url = await serve(says(body, type));
    expect((await get(url)).content).toContain(text);
  });

  test.each<[string, string, Buffer, string]>([
    ["an image", "image/png", Buffer.from("\x89PNG"), "an image"],
    ["a file with a binary content type", "application/pdf", Buffer.from("%PDF"), "a binary file"],
    ["a file with binary content", "text/html", Buffer.from("a\0b"), "a binary file"],
  ])("refuses %s", async (_, type, body, word) => {
    const url = await serve(says(body, type));
    const result = await get(url);
    expect(result.isError).toBe(true);
    expect(result.content).toContain(word);
  });

  test("truncates a long page and keeps the whole text in a private file, with secrets redacted", async () => {
    const secret = "hunter2-hunter2";
    const url = await serve(says(`${"line of text\n".repeat(5_000)}${secret}`, "text/plain"));
    const { content } = await get(url, { env: { HOME: cwd, API_KEY: secret } });
    expect(content.length).toBeLessThan(31_000);
    const file = /the whole text is in (\S+)\)/.exec(content)?.[1] ?? "";
    const kept = readFileSync(file, "utf8");
    expect(kept).toHaveLength(5_000 * 13 + "[secret]".length);
    expect(kept).not.toContain(secret);
  });

  test("stops reading an endless page and closes the connection", async () => {
    let isClosed = false;
    const url = await serve((_, response) => {
      response.on("close", () => {
        isClosed = true;
      });
      response.writeHead(200, { "content-type": "text/plain" });
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    const { content } = await get(url);
    expect(content).toContain("Only the first part was read");
    await eventually("the end of the connection", () => isClosed);
  });

  test("cuts a page that is too long between two characters", async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/plain; charset=utf-8" });
      response.end(`a${"漢".repeat(1_000_000)}`);
    });
    const { content } = await get(url);
    const [, file = ""] = /the whole text is in (\S+)\)/.exec(content) ?? [];
    expect(readFileSync(file, "utf8")).toMatch(/^a漢+$/);
  });

  test.each([
    ["nested too deeply to read", `${"<b>".repeat(20_000)}x`, "(200, text/html)\n\n..."],
    ["nested 400,000 levels deep", "<div>".repeat(400_000), "could not be converted to text"],
    [
      "with a cell that spans a billion columns",
      `<table><tr><td colspan="1000000000" rowspan="1000000000">cell</table>`,
      "| cell",
    ],
    ["full of malformed tags", `<${"<a ".repeat(100_000)}`, "200"],
  ])("survives a page %s", async (_, html, words) => {
    const url = await serve(says(html));
    expect((await get(url)).content).toContain(words);
  });

  test("returns an error with the server's page when the page does not exist", async () => {
    const url = await serve(says("<p>no such page", "text/html", 404));
    expect(await get(url)).toMatchObject({
      isError: true,
      content: `${url}/ (404, text/html)\n\nno such page`,
    });
  });

  test("ignores the prompt and returns the page", async () => {
    const url = await serve(says("one two", "text/plain"));
    const { content } = await webFetchTool.execute({ url, prompt: "only the second word" }, context);
    expect(content).toContain("one two");
  });
});

describe("WebFetch tool, redirects", () => {
  test("follows a redirect to the same host", async () => {
    const url = await serve((request, response) => {
      if (request.url === "/a") response.writeHead(302, { location: "/b" }).end();
      else response.end(`here: ${request.url}`);
    });
    expect((await get(`${url}/a`)).content).toContain("here: /b");
  });

  test("reports a redirect to another host without contacting that host", async () => {
    let asked = 0;
    const other = await serve((_, response) => {
      asked += 1;
      response.end("other");
    });
    const there = other.replace("127.0.0.1", "localhost");
    const url = await serve((_, response) => response.writeHead(301, { location: `${there}/x` }).end());
    const result = await get(url);
    expect(result.content).toContain(`${there}/x`);
    expect(result.data).toEqual({ url: `${url}/`, redirect: `${there}/x` });
    expect(asked).toBe(0);
  });

  test.each(["file:///etc/passwd", "https://ada:pw@127.0.0.1/", "http://[", "javascript:1"])(
    "refuses a redirect to %s",
    async (location) => {
      const url = await serve((_, response) => response.writeHead(302, { location }).end());
      const result = await get(url);
      expect(result).toMatchObject({ isError: true });
      expect(result.content).toContain("which cannot be fetched");
    },
  );

  test("gives up on a redirect loop", async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked += 1;
      response.writeHead(307, { location: "/again" }).end();
    });
    expect((await get(url)).content).toContain("was redirected 11 times");
    expect(asked).toBe(11);
  });
});

describe("WebFetch tool, private addresses", () => {
  test("refuses a local address unless a rule allows it", async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked += 1;
      response.end("secret");
    });
    for (const host of ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"]) {
      const result = await get(url.replace("127.0.0.1", host), { mayConnect: () => false });
      expect(result.isError).toBe(true);
      expect(result.content).toContain("Only a rule for that address allows it");
    }
    expect(asked).toBe(0);
  });

  test("checks the addresses that a name resolves to when it connects", async () => {
    const lookupOf = (...addresses: string[]) =>
      guardedLookup(
        (address) => address !== "10.0.0.1",
        (_host, _options, done) =>
          done(
            null,
            addresses.map((address) => ({ address, family: 4 })),
          ),
      );
    const resolved = (lookup: ReturnType<typeof lookupOf>, all: boolean) =>
      new Promise((resolve) =>
        lookup("example.org", { all }, (error, address, family) => resolve(error ?? [address, family])),
      );
    expect(await resolved(lookupOf("93.184.216.34"), false)).toEqual(["93.184.216.34", 4]);
    expect(await resolved(lookupOf("93.184.216.34"), true)).toEqual([
      [{ address: "93.184.216.34", family: 4 }],
      undefined,
    ]);
    for (const all of [true, false]) {
      expect(await resolved(lookupOf("93.184.216.34", "10.0.0.1"), all)).toEqual(
        new RefusedAddress("example.org", "10.0.0.1"),
      );
      expect(await resolved(lookupOf(), all)).toEqual(new Error("example.org has no address."));
    }
  });
});

describe("WebFetch tool, unresponsive servers", () => {
  test("aborts at once on interrupt while it waits for a response", async () => {
    const stop = new AbortController();
    const url = await serve(() => stop.abort());
    await expect(get(url, { signal: stop.signal })).rejects.toThrow("abort");
  });

  test("aborts at once on interrupt in the middle of a response", async () => {
    const stop = new AbortController();
    const url = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).write("beg");
      setImmediate(() => stop.abort());
    });
    await expect(get(url, { signal: stop.signal })).rejects.toThrow("abort");
  });

  test("returns an error when the server closes the connection", async () => {
    const url = await serve((request) => request.socket.destroy());
    const result = await get(url);
    expect(result.isError).toBe(true);
    expect(result.content).toContain(`${url}/ could not be fetched`);
  });
});

test("webPage › opens a new connection for each page", async () => {
  const sockets = new Set<unknown>();
  const url = await serve((request, response) => {
    sockets.add(request.socket);
    response.end("x");
  });
  for (let i = 0; i < 3; i += 1) await webPage(new URL(url), () => true, {}, context.signal);
  expect(sockets.size).toBe(3);
});
