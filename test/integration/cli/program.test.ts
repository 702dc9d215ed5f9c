import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../../src/cli/program.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

describe("runProgram", () => {
  it("lists the commands with help, --help and -h", async () => {
    const teams = cliIn();
    const plain = await teams(["help"]);
    expect(plain.code).toBe(0);
    expect(plain.out).toContain("Usage: teams <command> [options]");
    expect(plain.out).toMatch(/Messages:\n +send <agent> <text\.\.\.> +/);
    const rows = plain.out.split("\n");
    for (const name of Object.keys(COMMANDS))
      expect(rows.filter((row) => row.startsWith(`  ${name} `))).toHaveLength(1);
    for (const words of [["--help"], ["-h"]]) expect((await teams(words)).out).toBe(plain.out);
  });

  it("prints the help of a command with --help, -h and help", async () => {
    const teams = cliIn();
    const help = await teams(["send", "--help"]);
    expect(help.code).toBe(0);
    expect(help.out).toContain("Usage: teams send <agent> <text...> [options]");
    expect(help.out).toContain("Examples:\n  $ teams send");
    expect((await teams(["help", "send"])).out).toBe(help.out);
    expect((await teams(["send", "-h"])).out).toBe(help.out);
    expect(help.out).toContain("--as <member>");
    for (const command of ["ls", "create", "settings", "acp"])
      expect((await teams([command, "--help"])).out).not.toMatch(/--as |--team /);
  });

  it("keeps every command's help within 80 columns if stdout is not a terminal", async () => {
    const teams = cliIn();
    for (const name of Object.keys(COMMANDS)) {
      const { out } = await teams([...name.split(" "), "--help"]);
      const [help = ""] = out.split("\nExamples:\n");
      expect(help.split("\n").filter((row) => row.length > 80)).toEqual([]);
    }
  });

  it("lists the subcommands of a command group", async () => {
    const teams = cliIn();
    const help = await teams(["task"]);
    expect(help.out).toContain("add <subject...>");
    expect(help.out).not.toContain("broadcast");
    expect((await teams(["task", "--help"])).out).toBe(help.out);
    expect((await teams(["help", "task"])).out).toBe(help.out);
  });

  it("prints its version", async () => {
    const { version } = await import("../../../package.json");
    expect((await cliIn()(["--version"])).out).toBe(`teams ${version}\n`);
    for (const words of [
      ["--version", "--json"],
      ["--json", "-V"],
    ])
      expect((await cliIn()(words)).json()).toEqual({ version });
  });

  it("asks for the command of a group before an option", async () => {
    const ended = await cliIn()(["task", "--json"]);
    expect(ended).toMatchObject({ code: 2, out: "" });
    expect(ended.error()).toMatchObject({
      message: "teams task needs a command before --json.",
      hint: "See its commands: teams task --help",
    });
  });

  it.each([
    [["sned"], "teams send"],
    [["task", "lst"], "teams task list"],
    [["statsu", "--team", "x"], "teams status"],
    [["stop", "ada"], "teams shutdown"],
    [["tasks"], "teams task list"],
    [["new", "crew"], "teams create"],
    [["tell", "ada", "hello"], "teams send"],
    [["tail"], "teams logs -f"],
    [["task", "create", "x"], "teams task add"],
    [["version"], "teams --version"],
  ])("rejects %j, suggests the nearest command and exits with 2", async (words, nearest) => {
    const ended = await cliIn()(words);
    expect(ended).toMatchObject({ code: 2, out: "" });
    expect(ended.err).toContain("(INVALID_INPUT)");
    expect(ended.err).toContain(`Did you mean \`${nearest}\`?`);
  });

  it("treats a team name with leading dashes as an operand", async () => {
    const ended = await cliIn()(["delete", "---x"]);
    expect(ended.code).toBe(2);
    expect(ended.err).toContain("-- ---x");
    expect((await cliIn()(["delete", "--forse"])).err).toContain("Did you mean --force?");
  });

  it("rejects a team name as a layout and says where it belongs", async () => {
    const teams = cliIn();
    expect((await teams(["create", "tiles"])).code).toBe(0);
    expect((await teams(["layout", "tiles"])).err).toContain("teams layout grid --team tiles");
    expect((await teams(["layout", "tilde"])).err).toContain("Did you mean tiled?");
  });

  it.each([
    { words: ["sned", "--json"], code: "INVALID_INPUT" },
    { words: ["ls", "--bogus", "--json"], code: "INVALID_INPUT" },
    { words: ["--json", "send"], code: "INVALID_INPUT" },
    { words: ["status", "--json"], code: "TEAM_NOT_FOUND" },
  ])("reports the error of $words as JSON on stderr", async ({ words, code }) => {
    const ended = await cliIn()(words);
    expect(ended.out).toBe("");
    expect(ended.err.trimEnd()).not.toContain("\n");
    expect(ended.error()).toMatchObject({ code });
    expect(ended.error().message).not.toBe("");
    expect(ended.error().hint).not.toBe("");
  });

  it.each([
    ["an unknown option", ["run", "--foo", "bar"], /^Usage: /],
    ["an unknown option in place of a name", ["status", "--foo"], /^Usage: /],
    ["a text of several words", ["send", "ada", "--hello you"], /^Write a word .* as in: -- '--hello you'\./],
    ["a word of a text", ["run", "use", "the", "-x", "flag"], /^Write a word .* as in: -- -x\./],
    ["a mistyped option", ["run", "--verbos"], /^Did you mean --verbose\?/],
  ])("mentions -- for a word that may be meant as text: %s", async (_, words, hint) => {
    const { code, err } = await cliIn()(words);
    expect([code, err.split("hint: ")[1]]).toEqual([2, expect.stringMatching(hint)]);
  });

  it("treats --json after -- as an operand", async () => {
    const ended = await cliIn()(["status", "--", "--json"]);
    expect(ended.err).toContain("teams: ");
  });

  it("accepts common options before the command", async () => {
    const teams = cliIn();
    expect((await teams(["--json", "ls"])).json()).toEqual({ teams: [] });
    expect((await teams(["-q", "--as=x", "--json", "task", "list"])).error().code).toBe("TEAM_NOT_FOUND");
    await teams(["create", "a"]);
    expect((await teams(["--team", "a", "task", "list", "--json"])).json()).toEqual({ tasks: [] });
  });

  it("rejects an unknown option before the command, and help on an unknown command", async () => {
    const option = await cliIn()(["--jsn", "ls"]);
    expect(option.code).toBe(2);
    expect(option.err).toContain("Did you mean --json");
    const help = await cliIn()(["help", "sned"]);
    expect(help.code).toBe(2);
    expect(help.err).toContain("teams send");
  });

  it("writes only ASCII to a terminal without UTF-8, and everything to a pipe and with --json", async () => {
    const teams = cliIn();
    await teams(["create", "a"]);
    await teams(["task", "add", "Prüfe 你 …"]);
    const list = async (
      words: readonly string[],
      terminal: boolean,
      env = { LC_ALL: "C" },
    ): Promise<string> => (await teams(["task", "list", ...words], { terminal, env })).out;
    expect(await list([], true)).toMatch(/^[\x00-\x7f]*Pr\?fe \?\? >\n$/);
    for (const out of [
      await list([], false),
      await list(["--json"], true),
      await list([], true, { LC_ALL: "C.UTF-8" }),
    ])
      expect(out).toContain("Prüfe 你 …");
    const unknown = await teams(["send", "zoë", "Hello"], { terminal: true, env: { LC_ALL: "C" } });
    expect(unknown.err).toMatch(/^[\x00-\x7f]+$/);
  });

  it("uses colours only on a terminal and without NO_COLOR", async () => {
    const teams = cliIn();
    await teams(["create", "a"]);
    const coloured = async (terminal: boolean, env: Record<string, string>): Promise<boolean> =>
      (await teams(["status"], { terminal, env })).out.includes("\x1b[");
    expect(await coloured(true, { TERM: "xterm-256color" })).toBe(true);
    expect(await coloured(true, { TERM: "xterm-256color", NO_COLOR: "1" })).toBe(false);
    expect(await coloured(true, { TERM: "dumb" })).toBe(false);
    expect(await coloured(false, { TERM: "xterm-256color" })).toBe(false);
    expect(await coloured(false, { TERM: "xterm-256color", FORCE_COLOR: "1" })).toBe(true);
  });
});
