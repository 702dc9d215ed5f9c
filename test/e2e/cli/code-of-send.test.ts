import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { foreignTeam } from "../../support/mcp/member-server.ts";
import { TEAMS } from "../../support/processes/built-program.ts";

/** Prints at exit every loaded file, as one line of JSON on stderr. */
const TRACER = `process.on("exit", () => {
  require("fs").writeSync(2, "\\n" + JSON.stringify(Object.keys(require.cache)) + "\\n");
});
`;

/** One function each of the library, the MCP server and the ACP agent: the build keeps their names. */
const NAMES = ["teamHandle", "memberServers", "serveAcp"];

function namesIn(files: readonly string[]): readonly string[] {
  const text = files.map((file) => readFileSync(file, "utf8")).join("\n");
  return NAMES.filter((name) => text.includes(name));
}

it("teams send › does not load code of the library, the MCP server or the ACP agent", async () => {
  const { directory, teams } = await foreignTeam();
  const tracer = join(directory, "tracer.cjs");
  writeFileSync(tracer, TRACER);
  const sent = await teams(["send", "ada", "hello"], { nodeArgs: ["-r", tracer] });
  expect([sent.code, sent.out]).toEqual([0, expect.stringContaining("ada")]);
  const loaded = JSON.parse(sent.err.trimEnd().split("\n").at(-1) ?? "") as readonly string[];
  expect(loaded.length).toBeGreaterThan(2);
  expect(namesIn(loaded)).toEqual([]);
  const dist = dirname(TEAMS);
  const built = readdirSync(dist, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".cjs"))
    .map((file) => join(dist, file));
  expect(namesIn(built)).toEqual(NAMES);
});
