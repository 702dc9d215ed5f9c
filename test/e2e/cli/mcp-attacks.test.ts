import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { initialize, requestOf } from "../../support/mcp/exchange.ts";
import {
  foreignTeam,
  httpClient,
  httpServer,
  PATIENT,
  stdioClient,
  tokenIn,
} from "../../support/mcp/member-server.ts";
import { statusOfUnfinished } from "../../support/mcp/unfinished-request.ts";
import { eventually } from "../../support/timing/eventually.ts";

const VERSION = "2025-11-25";
/** Maximum size of a request's body, in bytes. */
const MAX_BODY = 4 * 1024 * 1024;

/** A client of the older protocol that uses no client package, so it can break every rule of the protocol. */
async function bareClient(url: string, token: string) {
  const common = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const post = (body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(url, {
      method: "POST",
      headers: { ...common, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  const open = async (): Promise<{ readonly status: number; readonly session: Record<string, string> }> => {
    const response = await post(initialize(VERSION));
    await response.text();
    const id = response.headers.get("mcp-session-id");
    return { status: response.status, session: id === null ? {} : { "mcp-session-id": id } };
  };
  return { post, open, common };
}

async function server() {
  const team = await foreignTeam();
  const { url, tokenFile, child } = await httpServer(team);
  return { team, url, token: tokenIn(tokenFile), child };
}

describe("teams mcp › attacks", () => {
  it("answers HTTP bodies that are not requests, and keeps working", async () => {
    const { url, token } = await server();
    const { post, open } = await bareClient(url, token);
    const bodies: readonly (readonly [unknown, number])[] = [
      ["", 400],
      ["half a", 400],
      ['{"jsonrpc":"2.0","id":1,"method":"tools/list"', 400],
      ["[".repeat(100_000), 400],
      [`${"[".repeat(50_000)}${"]".repeat(50_000)}`, 400],
      ["null", 400],
      ["7", 400],
      ["[]", 400],
      [Array.from({ length: 500 }, (_, id) => requestOf(id, "tools/list")), 400],
    ];
    for (const [body, status] of bodies) {
      const response = await post(body);
      await response.text();
      expect([String(body).slice(0, 20), response.status]).toEqual([String(body).slice(0, 20), status]);
    }
    const wrongType = await post("{}", { "content-type": "text/plain" });
    expect(wrongType.status).toBe(415);
    await wrongType.text();
    const works = await post(requestOf(1, "tools/list"));
    expect([works.status, (await works.text()).includes("TaskList")]).toEqual([200, true]);
    const batch = [requestOf(2, "tools/list"), requestOf(3, "no/such/method")];
    const first = await post(batch);
    const answers = await first.text();
    expect([first.status, answers.includes('"id":2'), answers.includes('"id":3')]).toEqual([200, true, true]);
    // Later versions have no batches.
    for (const headers of [{ "mcp-protocol-version": VERSION }, (await open()).session]) {
      const refused = await post(batch, headers);
      expect([refused.status, (await refused.text()).includes("-32600")]).toEqual([400, true]);
    }
  });

  it("refuses a body that becomes too long, whatever length its client announced", async () => {
    const { url, token } = await server();
    const { post, common } = await bareClient(url, token);
    expect(await statusOfUnfinished(url, common, MAX_BODY + 1)).toBe(413);
    const works = await post(requestOf(1, "tools/list"));
    expect([works.status, (await works.text()).includes("TaskList")]).toEqual([200, true]);
  });

  it("keeps sessions apart, ends them, and limits their number", async () => {
    const { url, token } = await server();
    const { post, open, common } = await bareClient(url, token);
    const list = requestOf(1, "tools/list");
    const first = await open();
    expect(first.status).toBe(200);
    for (const id of ["no-such", "../x", "x".repeat(5_000)]) {
      const guessed = await post(list, { "mcp-session-id": id });
      expect(guessed.status).toBe(404);
      await guessed.text();
    }
    // A session does not replace the token.
    const stolen = await post(list, { ...first.session, authorization: "Bearer wrong" });
    expect(stolen.status).toBe(401);
    await stolen.text();
    const ended = await fetch(url, { method: "DELETE", headers: { ...common, ...first.session } });
    expect(ended.status).toBe(200);
    await ended.text();
    expect((await post(list, first.session)).status).toBe(404);
    const sessions = [];
    for (let at = 0; at < 20; at += 1) sessions.push(await open());
    expect(sessions.every(({ status }) => status === 200)).toBe(true);
    const alive = [];
    for (const { session } of sessions) {
      const { status, text } = await post(list, session).then(async (r) => ({
        status: r.status,
        text: await r.text(),
      }));
      alive.push(status);
      expect(status === 404 || text.includes("TaskList")).toBe(true);
    }
    expect(alive.filter((status) => status === 200)).toHaveLength(16);
  });

  it("a client that vanishes during a Wait leaves nothing, and its session keeps working", async () => {
    const { team, url, token } = await server();
    const { post, open } = await bareClient(url, token);
    const { session } = await open();
    const wait = { name: "Wait", arguments: { timeout_seconds: 300 } };
    const leaving = new AbortController();
    const response = await post(requestOf(7, "tools/call", wait), session, leaving.signal);
    expect(response.status).toBe(200);
    leaving.abort();
    // The aborted calls end: the server answers more of them than may run at the same time.
    for (let at = 0; at < 120; at += 1) {
      const next = new AbortController();
      await post(requestOf(100 + at, "tools/call", wait), session, next.signal);
      next.abort();
    }
    const list = { name: "TaskList", arguments: {} };
    await eventually("a call that may run", async () => {
      const answer = await post(requestOf(800, "tools/call", list), session);
      return !(await answer.text()).includes("already running");
    });
    await sendMessage(team.ref, { from: "team-lead", to: "ada", text: "hello" });
    const read = { name: "ReadMessages", arguments: {} };
    await eventually("the message", async () => {
      const answer = await post(requestOf(900, "tools/call", read), session);
      const text = await answer.text();
      return text.includes("hello");
    });
  });

  it("the server of a client on standard streams ends when the client vanishes during a Wait", async () => {
    const team = await foreignTeam();
    const { call, transport, client } = await stdioClient(team);
    const pid = transport.pid as number;
    const waiting = call("Wait", { timeout_seconds: 300 });
    waiting.catch(() => undefined);
    expect((await call("TeamStatus")).isError).toBe(false);
    // A server notices a client's death only by the end of its input.
    await client.close();
    await eventually("the end of the server", () => startTimeOf(pid) === undefined);
  });

  it("two clients of one member share its messages: one of them gets each message", async () => {
    const { team, url, token } = await server();
    const other = await stdioClient(team);
    const http = [await httpClient(url, token, "legacy"), await httpClient(url, token, "auto")];
    for (let at = 0; at < 12; at += 1)
      await sendMessage(team.ref, { from: "team-lead", to: "ada", text: `message ${at}` });
    const clients = [other, ...http];
    const answers = await Promise.all(
      [0, 1].flatMap(() => clients.map(({ call }) => call("ReadMessages", { limit: 2 }))),
    );
    const rest = await other.call("ReadMessages", { limit: 50 });
    const texts = [...answers, rest].flatMap(({ json }) =>
      (json.messages as { text: string }[]).map(({ text }) => text),
    );
    expect([...texts].sort()).toEqual(Array.from({ length: 12 }, (_, at) => `message ${at}`).sort());
  });

  it("limits the number of change streams", async () => {
    const { url, token } = await server();
    const { client } = await httpClient(url, token, "auto");
    const filter = { resourceSubscriptions: ["teams://crew/tasks"] };
    const open = [];
    let refused: unknown;
    for (let at = 0; at < 20 && refused === undefined; at += 1) {
      const one = await client.listen(filter, PATIENT).catch((error: unknown) => {
        refused = error;
        return undefined;
      });
      if (one !== undefined) open.push(one);
    }
    expect([open.length, String(refused)]).toEqual([16, expect.stringContaining("limit")]);
    await open[0]?.close();
    await eventually("a free stream", async () => {
      const again = await client.listen(filter, PATIENT).catch(() => undefined);
      return again !== undefined;
    });
    expect((await client.listTools(undefined, PATIENT)).tools.length).toBeGreaterThan(5);
  });

  it("half a request does not delay other clients", async () => {
    const { url, token } = await server();
    const { port } = new URL(url);
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": "1000",
    };
    const half = request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers });
    half.on("error", () => undefined);
    half.write('{"jsonrpc":"2.0",');
    const { client } = await httpClient(url, token, "legacy");
    expect((await client.listTools(undefined, PATIENT)).tools.length).toBeGreaterThan(5);
    half.destroy();
    expect((await client.listTools(undefined, PATIENT)).tools.length).toBeGreaterThan(5);
  });
});
