import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { AS_ADA, callOf, crew, ENVELOPE, exchange, initialize } from "../../support/mcp/exchange.ts";

describe("teams mcp", () => {
  it.each(["2025-06-18", "2025-11-25"])("agrees on the version %s with initialize", async (version) => {
    const { reply, code } = await exchange(await crew(), [initialize(version), callOf(2, "TaskList")]);
    expect(reply("first")?.result).toMatchObject({ protocolVersion: version, serverInfo: { name: "teams" } });
    expect(reply(2)?.result).toMatchObject({ isError: false });
    expect(code).toBe(0);
  });

  it("answers server/discover, and then works with or without initialize", async () => {
    const discover = { jsonrpc: "2.0", id: 0, method: "server/discover", params: { _meta: ENVELOPE } };
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: ENVELOPE } };
    const modern = await exchange(await crew(), [discover, list]);
    expect(modern.reply(0)?.result).toMatchObject({ supportedVersions: ["2026-07-28"] });
    expect(modern.reply(1)?.result).toMatchObject({ tools: expect.any(Array) });
    const fallback = await exchange(await crew(), [
      discover,
      initialize("2025-11-25"),
      callOf(2, "TaskList"),
    ]);
    expect(fallback.reply("first")?.result).toMatchObject({ protocolVersion: "2025-11-25" });
    expect(fallback.reply(2)?.result).toMatchObject({ isError: false });
  });

  it("survives invalid messages, and answers them with errors", async () => {
    const { replies, reply, code } = await exchange(await crew(), [
      initialize("2025-11-25"),
      '{"jsonrpc":"2.0","id":1,',
      "[[[[",
      [callOf(2, "TaskList"), callOf(3, "TaskList")],
      { jsonrpc: "1.0", id: 4, method: "tools/list" },
      { jsonrpc: "2.0", id: { odd: true }, method: "tools/list" },
      "7",
      "",
      `{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"x":"${"y".repeat(10_000_000)}"}}`,
      { jsonrpc: "2.0", id: 6, method: "no/such/method" },
      callOf(7, "NoSuchTool"),
      callOf(8, "TaskGet", { taskId: { deep: 1 } }),
      callOf(9, "TaskGet", { taskId: "../../config" }),
      callOf(10, "task_list"),
      '{"jsonrpc":"2.0","id":11,"method":"tools/list"',
    ]);
    const unnamed = replies.filter(({ id }) => id === null).map(({ error }) => error?.code);
    expect(unnamed).toEqual([-32700, -32700, -32600, -32600, -32600, -32700, -32700]);
    expect([reply(2), reply(3), reply(5)]).toEqual([undefined, undefined, undefined]);
    expect(reply(4)?.error?.code).toBe(-32600);
    expect(reply(6)?.error?.code).toBe(-32601);
    expect(reply(7)?.error?.code).toBe(-32602);
    expect(reply(9)?.result).toMatchObject({ isError: true });
    expect(reply(10)?.result).toMatchObject({ isError: false });
    expect(reply(11)).toBeUndefined();
    expect(code).toBe(0);
  });

  it("answers each message of a batch in a protocol version with batches", async () => {
    const { replies, reply } = await exchange(await crew(), [
      [initialize("2025-03-26")],
      initialize("2025-03-26"),
      [callOf(2, "TaskList"), { jsonrpc: "1.0", id: 3, method: "tools/list" }, [], callOf(4, "TaskList")],
      Array.from({ length: 101 }, (_, at) => callOf(100 + at, "TaskList")),
      callOf(5, "TaskList"),
    ]);
    expect(reply("first")?.result).toMatchObject({ protocolVersion: "2025-03-26" });
    for (const id of [2, 4, 5]) expect(reply(id)?.result).toMatchObject({ isError: false });
    expect(reply(3)?.error?.code).toBe(-32600);
    const unnamed = replies.filter(({ id }) => id === null).map(({ error }) => error?.code);
    expect(unnamed).toEqual([-32600, -32600, -32600]);
    expect(replies).toHaveLength(8);
  });

  it("keeps a message that a parallel call returned, and returns it again", async () => {
    const cli = await crew();
    await cli(["send", "ada", "hello", "--team", "crew"]);
    const calls = [1, 2, 3].map((id) => callOf(id, id === 2 ? "ReadMessages" : "TaskList"));
    const first = await exchange(cli, [initialize("2025-11-25"), ...calls]);
    expect(JSON.stringify(first.reply(2))).toContain("hello");
    const again = await exchange(cli, [initialize("2025-11-25"), callOf(2, "ReadMessages")]);
    expect(JSON.stringify(again.reply(2))).toContain("again");
  });

  it("returns each message to only one of several parallel calls", async () => {
    const cli = await crew();
    for (const text of ["one", "two"]) await cli(["send", "ada", text, "--team", "crew"]);
    const calls = [1, 2, 3].map((id) => callOf(id, "ReadMessages", { limit: 1 }));
    const { replies } = await exchange(cli, [initialize("2025-11-25"), ...calls]);
    const texts = replies.map((reply) => JSON.stringify(reply));
    expect(texts.filter((text) => text.includes('\\"one\\"'))).toHaveLength(1);
    expect(texts.filter((text) => text.includes('\\"two\\"'))).toHaveLength(1);
  });

  it("returns only as much as a client accepts, and leaves other messages for the next call", async () => {
    const cli = await crew();
    for (const text of ["a", "b"])
      await cli(["send", "ada", "-", "--team", "crew"], { stdin: text.repeat(40_000) });
    const { reply } = await exchange(cli, [initialize("2025-11-25"), callOf(1, "ReadMessages")]);
    const text = JSON.stringify(reply(1));
    expect(text).toContain('\\"more\\": 1');
    expect(text.length).toBeLessThan(90_000);
  });

  it("refuses to start without a member, for an unknown member, and as another in an agent's shell", async () => {
    const cli = await crew();
    const without = await cli(["mcp", "--json"]);
    expect([without.code, without.error().code]).toEqual([2, "INVALID_INPUT"]);
    expect((await cli(["mcp", "--as", "bob@crew", "--json"])).error().code).toBe("AGENT_NOT_FOUND");
    expect((await cli(["mcp", "--as", "ada@none", "--json"])).error().code).toBe("TEAM_NOT_FOUND");
    const env = { TEAMS_AGENT: "ada@crew" };
    expect((await cli(["mcp", "--as", "team-lead", "--json"], { env })).error().code).toBe("NOT_LEAD");
    expect((await cli(["mcp"], { env })).code).toBe(0);
    for (const words of [
      ["--http", "seven"],
      ["--http", "70000"],
      ["--http", "0", "--config", "claude"],
    ])
      expect((await cli([...AS_ADA, ...words])).code).toBe(2);
  });

  it("reads no more requests while the client reads no answers", async () => {
    const cli = await crew();
    const requests = 2_000;
    let read = 0;
    async function* bytesIn(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`${JSON.stringify(initialize("2025-11-25"))}\n`);
      for (; read < requests; read += 1) {
        yield Buffer.from(`{"jsonrpc":"2.0","id":${read},"method":"tools/list"}\n`);
        await new Promise(setImmediate);
      }
    }
    let answered = 0;
    const bytesOut = async (bytes: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const chunk of bytes) {
        const isFirst = answered === 0;
        answered += Buffer.from(chunk).toString("utf8").split("\n").length - 1;
        // The client pauses until no request is read any more.
        for (let [seen, turns] = [-1, 0]; isFirst && turns < 1_000; await new Promise(setImmediate)) {
          turns = seen === read ? turns + 1 : 0;
          seen = read;
        }
        if (isFirst) expect(read).toBeLessThan(requests);
      }
    };
    const { code } = await cli(AS_ADA, { streams: { bytesIn, bytesOut } });
    expect([code, answered]).toEqual([0, requests + 1]);
  });

  it("lets hooks refuse a change of a task", async () => {
    const cli = await crew();
    const command = "echo 'the build is red' >&2; exit 2";
    const hooks = { TaskCompleted: [{ hooks: [{ type: "command", command }] }] };
    writeFileSync(join(cli.root, "settings.json"), JSON.stringify({ hooks }));
    await cli(["task", "add", "build", "--team", "crew"]);
    const calls = [callOf(1, "TaskUpdate", { taskId: "1", status: "completed" })];
    const { reply } = await exchange(cli, [initialize("2025-11-25"), ...calls]);
    expect(reply(1)?.result).toMatchObject({ isError: true });
    expect(JSON.stringify(reply(1))).toContain("the build is red");
  });

  it("refuses calls above the maximum number of parallel calls, and runs the others", async () => {
    const calls = Array.from({ length: 130 }, (_, at) =>
      callOf(at + 1, "Wait", { for: ["free_task"], timeout_seconds: 1 }),
    );
    const { replies } = await exchange(await crew(), [initialize("2025-11-25"), ...calls]);
    const refused = replies.filter(({ result }) => result?.isError === true);
    expect([replies.length, refused.length]).toEqual([131, 30]);
  });

  it("adds the member to the team with --join, once, and not in an agent's shell", async () => {
    const cli = await crew();
    const words = ["mcp", "--as", "kim@crew", "--join"];
    const both = await Promise.all([1, 2].map(() => exchange(cli, [initialize("2025-11-25")], words)));
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const { members } = (await cli(["status", "--json"])).json<{ members: { name: string }[] }>();
    expect(members.map(({ name }) => name)).toEqual(["team-lead", "ada", "kim"]);
    expect((await cli(["mcp", "--as", "user@crew", "--join", "--json"])).error().code).toBe("INVALID_NAME");
    const env = { TEAMS_AGENT: "ada@crew" };
    expect((await cli([...words, "--json"], { env })).error().code).toBe("NESTED_TEAM");
    const printed = await cli(["mcp", "--as", "new@crew", "--join", "--config", "json"]);
    expect(printed.out).toContain('"--join"');
    expect((await cli(["status", "--json"])).out).not.toContain('"new"');
  });

  it("leaves out the tools of the inbox if messages reach the member in another way", async () => {
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const words = [...AS_ADA, "--without-inbox"];
    const { reply } = await exchange(await crew(), [initialize("2025-11-25"), list], words);
    const { tools } = (reply(1)?.result ?? {}) as { tools: readonly { name: string }[] };
    const names = tools.map(({ name }) => name);
    expect(names).toContain("Wait");
    expect(names).not.toContain("ReadMessages");
    expect(names).not.toContain("ReportIdle");
  });
});

describe("teams mcp --config", () => {
  it.each([
    ["claude", "mcpServers.teams.command"],
    ["gemini", "mcpServers.teams.trust"],
    ["qwen", "mcpServers.teams.trust"],
    ["opencode", "mcp.teams.command"],
    ["json", "mcpServers.teams.args"],
  ])("prints JSON for %s", async (client, path) => {
    const cli = await crew();
    const { out, code } = await cli([...AS_ADA, "--config", client]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toHaveProperty(path);
    expect(out).toContain(cli.root);
  });

  it.each([
    ["claude", "mcpServers.teams"],
    ["gemini", "mcpServers.teams"],
    ["qwen", "mcpServers.teams"],
    ["opencode", "mcp.teams"],
    ["json", "mcpServers.teams"],
  ])("prints the HTTP form for %s, with the token of the server", async (client, path) => {
    const cli = await crew();
    const { out, err, code } = await cli([...AS_ADA, "--config", client, "--http", "7001"]);
    expect([code, err]).toEqual([0, expect.stringContaining("teams mcp --http 7001 --team crew --as ada")]);
    expect(JSON.parse(out)).toHaveProperty(path);
    const token = readFileSync(
      teamRef(teamsHome(cli.env), "crew").paths.agent("ada").mcpToken,
      "utf8",
    ).trim();
    expect(out).toContain('"http://127.0.0.1:7001/mcp"');
    expect(out).toContain(`"Bearer ${token}"`);
  });

  it("names the command that starts the HTTP server, with the options that the client's tools depend on", async () => {
    const cli = await crew();
    const words = ["mcp", "--as", "new@crew", "--config", "json", "--http", "7001"];
    const joins = await cli([...words, "--join"]);
    expect(joins.err).toContain("teams mcp --http 7001 --team crew --as new --join\n");
    const bare = await cli([...AS_ADA, ...words.slice(3), "--without-inbox"]);
    expect(bare.err).toContain("teams mcp --http 7001 --team crew --as ada --without-inbox\n");
  });

  it("prints TOML with headers for codex, and refuses HTTP without a fixed port", async () => {
    const cli = await crew();
    const words = [...AS_ADA, "--config", "codex", "--http"];
    const { out } = await cli([...words, "7001"]);
    expect(out).toMatch(
      /^\[mcp_servers\.teams\]\nurl = "http:\/\/127\.0\.0\.1:7001\/mcp"[\s\S]*\[mcp_servers\.teams\.http_headers\]\nAuthorization = "Bearer /,
    );
    const refused = await cli([...words, "0"]);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("needs a fixed port")]);
  });

  it("prints YAML for goose, for both transports", async () => {
    const cli = await crew();
    const started = await cli([...AS_ADA, "--config", "goose"]);
    expect(started.out).toMatch(
      /^extensions:\n {2}teams:\n {4}name: "teams"\n {4}enabled: true\n {4}type: "stdio"\n {4}cmd: "\//,
    );
    expect(started.out).toContain('"mcp","--team","crew","--as","ada"]');
    const { out } = await cli([...AS_ADA, "--config", "goose", "--http", "7001"]);
    expect(out).toContain('type: "streamable_http"\n    uri: "http://127.0.0.1:7001/mcp"');
    expect(out).toContain('headers: {"Authorization":"Bearer ');
  });

  it("prints TOML for codex, and the entry for scripts", async () => {
    const cli = await crew();
    const { out } = await cli([...AS_ADA, "--config", "codex"]);
    expect(out).toContain("[mcp_servers.teams]\ncommand = ");
    expect(out).toContain('"mcp", "--team", "crew", "--as", "ada"]');
    expect(out).toContain(`[mcp_servers.teams.env]\nHOME = ${JSON.stringify(cli.directory)}`);
    const { entry } = (await cli([...AS_ADA, "--config", "codex", "--json"])).json<{ entry: object }>();
    expect(entry).toMatchObject({ command: process.execPath, env: { TEAMS_HOME: cli.root } });
  });
});
