import { describe, expect, it } from "vitest";
import { bind, type Command, defineCommand, parseQuickly } from "../../../src/cli/command.ts";
import { parseWithCommander } from "../../../src/cli/help/help.ts";
import { COMMANDS } from "../../../src/cli/program.ts";
import { TeamError } from "../../../src/errors.ts";

const sample = defineCommand({
  name: "sample",
  summary: "A command with every kind of option",
  args: [
    { name: "first", summary: "one word" },
    { name: "rest", summary: "more words", optional: true, many: true },
  ],
  options: {
    description: { short: "d", value: "text", summary: "a value" },
    teammateMode: { value: "mode", summary: "a choice", choices: ["auto", "tmux"] },
    blockedBy: { value: "ids", summary: "a list", many: true },
    worktree: { value: "branch", valueOptional: true, summary: "a value that may be left out" },
    rec: { value: "directory", valueOptional: true, inline: true, summary: "a value that follows =" },
    force: { short: "f", summary: "a switch" },
    noDescription: { summary: "a switch that begins with no, next to the option without it" },
    extraNames: { value: "names", summary: "a list with an alias", many: true, alias: "extraNames" },
    mode: {
      value: "mode",
      summary: "an option with a shorthand",
      choices: ["safe", "fast"],
      shorthand: { name: "go-fast", value: "fast" },
    },
    noSidebar: { summary: "a switch that begins with no" },
  },
  examples: ["teams sample a", "teams sample a -f"],
  run: () => Promise.resolve(),
});

/** Command lines that both parsers accept and must read alike. */
const ACCEPTED: readonly (readonly string[])[] = [
  ["a"],
  ["a", "b", "c"],
  ["a", "-d", "text"],
  ["-d", "text", "a"],
  ["a", "-dtext"],
  ["a", "--description", "text"],
  ["a", "--description=text"],
  ["a", "--description="],
  ["a", "--description=--json"],
  ["a", "-f", "b"],
  ["a", "-fq"],
  ["a", "-fd", "text"],
  ["a", "--force", "--json", "--quiet"],
  ["a", "--json", "--json"],
  ["a", "--no-sidebar"],
  ["a", "--no-description"],
  ["a", "--blocked-by", "1", "--blocked-by", "2,3"],
  ["a", "--teammate-mode", "tmux", "--team", "x", "--as", "me"],
  ["a", "--worktree", "b", "c"],
  ["--worktree=b", "a"],
  ["a", "--description", "one", "--description", "two"],
  ["a", "--rec", "b"],
  ["--rec", "a", "--force"],
  ["a", "--rec=casts", "b"],
  ["a", "--", "--rec"],
  ["--", "-a", "--force"],
  ["a", "--", "--", "b"],
  ["-", "b"],
  ["a", "-d", "-"],
  ["", " "],
  ["a", "-d", ""],
  ["検査", "🙂"],
];

/** Command lines that both parsers reject. */
const REFUSED: readonly (readonly string[])[] = [
  ["a", "--unknown"],
  ["a", "-x"],
  ["a", "-fx"],
  ["a", "--force=yes"],
  ["a", "--description"],
  ["a", "-d"],
  ["a", "--forc"],
  ["a", "--teamateMode", "tmux"],
  ["a", "--sidebar"],
  ["a", "--no-force"],
  ["a", "---force"],
];

/** Returns the arguments of the command by the slow parser. @throws TeamError if the parser rejects the words */
function parseSlowly(command: Command, words: readonly string[]): unknown {
  const parsed = parseWithCommander(command, words);
  return "help" in parsed ? parsed : bind(command, parsed);
}

describe("parseQuickly and parseWithCommander", () => {
  it.each(ACCEPTED.map((words) => ({ words })))("read $words alike", ({ words }) => {
    const quick = parseQuickly(sample, words);
    if (quick === undefined) throw new Error("the quick parser left the words to the slow parser");
    expect(parseSlowly(sample, words)).toEqual(bind(sample, quick));
  });

  it.each(REFUSED.map((words) => ({ words })))("both reject $words", ({ words }) => {
    expect(parseQuickly(sample, words)).toBeUndefined();
    expect(() => parseSlowly(sample, words)).toThrow(TeamError);
  });

  it("leave a value with a leading dash to commander, which accepts it", () => {
    const words = ["a", "-d", "-x"];
    expect(parseQuickly(sample, words)).toBeUndefined();
    expect(parseSlowly(sample, words)).toMatchObject({ options: { description: "-x" } });
  });

  it.each([[["a", "--worktree"]], [["a", "--worktree", "--force"]], [["--worktree", "-f", "a"]]])(
    "leave an option without its optional value to commander: %j",
    (words) => {
      expect(parseQuickly(sample, words)).toBeUndefined();
      expect(parseSlowly(sample, words)).toMatchObject({ args: { first: "a" }, options: { worktree: true } });
    },
  );

  it.each([
    [["--rec", "a"], true],
    [["--rec=b", "a"], "b"],
    [["a"], undefined],
  ] as const)("do not take the next word as an inline value: %j", (words, rec) => {
    const quick = parseQuickly(sample, words);
    expect(quick && bind(sample, quick)).toMatchObject({ args: { first: "a" }, options: { rec } });
    expect(parseWithCommander(sample, ["--help"])).toEqual({
      help: expect.stringContaining("--rec[=directory]"),
    });
  });

  it("leave --help and -h to commander", () => {
    expect(parseQuickly(sample, ["--help"])).toBeUndefined();
    expect(parseSlowly(sample, ["a", "-h"])).toHaveProperty("help");
  });
});

describe("bind", () => {
  const parse = (...words: string[]): unknown => parseSlowly(sample, words);

  it("names a missing operand", () => {
    expect(() => parse()).toThrow(/needs <first>: one word/);
  });

  it("hints at an option that took the missing operand as its value", () => {
    const hint = expect.stringContaining('"a" was read as the branch of --worktree');
    expect(() => parse("--worktree", "a")).toThrow(expect.objectContaining({ hint }));
  });

  it("names an invalid choice and the valid ones", () => {
    expect(() => parse("a", "--teammate-mode", "screen")).toThrow(
      /does not accept --teammate-mode "screen"; the values are auto, tmux/,
    );
  });

  it("names an unexpected operand", () => {
    const none = { ...sample, args: [] };
    expect(() => parseSlowly(none, ["x"])).toThrow(/has one word too many: "x"/);
    const listing = defineCommand({
      ...sample,
      args: [],
      options: { toolNames: { value: "names", summary: "s", many: true } },
    });
    expect(() => parseSlowly(listing, ["--tool-names", "Read", "Edit"])).toThrow(
      expect.objectContaining({
        hint: expect.stringMatching(/^Repeat --tool-names before each additional value\. /),
      }),
    );
  });
});

describe("an unknown option", () => {
  const refusal = (...words: string[]): TeamError => {
    try {
      parseSlowly(sample, words);
    } catch (error) {
      if (error instanceof TeamError) return error;
    }
    throw new Error("the words were not rejected");
  };

  it("is reported with the nearest option and the usage", () => {
    const error = refusal("a", "--teamate-mode", "tmux");
    expect(error).toMatchObject({ code: "INVALID_INPUT", exitCode: 2 });
    expect(error.message).toContain("--teamate-mode");
    expect(error.hint).toContain("Did you mean --teammate-mode?");
    expect(error.hint).toContain("teams sample <first> [rest...]");
  });

  it("is not what the error calls a known switch that gets a value", () => {
    const error = refusal("a", "--json=yes");
    expect(error.message).toContain("needs no value for --json");
    expect(error.hint).toMatch(/^Usage: /);
  });

  it("is reported with a hint at -- if the command accepts the word there", () => {
    expect(refusal("-x").hint).toContain("-- -x");
    expect(refusal("a", "--unlike=b", "c").hint).toContain("-- --unlike=b");
  });

  it("is reported without that hint if the command would not accept the word", () => {
    const named = defineCommand({ ...sample, args: [{ name: "first", summary: "one word" }] });
    const hintOf = (...words: string[]): string => {
      try {
        parseSlowly(named, words);
      } catch (error) {
        return (error as TeamError).hint ?? "";
      }
      throw new Error("the words were not rejected");
    };
    expect(hintOf("-x")).toContain("-- -x");
    for (const words of [["--unlike"], ["a", "-x"], ["a", "--unlike", "high"], ["-x", "--mode", "odd"]]) {
      expect(hintOf(...words)).toMatch(/^Usage: /);
    }
  });
});

type Bound = ReturnType<typeof bind>;

describe("spellings of Claude Code", () => {
  it("set the option, and are not in the help", () => {
    const words = ["a", "--extraNames", "b", "--extra-names", "c", "--go-fast"];
    const { options } = parseSlowly(sample, words) as Bound;
    expect([...(options.extraNames as string[])].sort()).toEqual(["b", "c"]);
    expect(options.mode).toBe("fast");
    const shown = JSON.stringify(parseWithCommander(sample, ["--help"]));
    expect(shown).toContain("--extra-names");
    expect(shown).not.toMatch(/--extraNames|--go-fast/);
  });

  it("are accepted by spawn and run", async () => {
    const boundIn = async (name: string, words: readonly string[]) => {
      const { command } = (await COMMANDS[name]?.()) ?? { command: sample };
      return (parseSlowly(command, words) as Bound).options;
    };
    const words = [
      "dev",
      "--dangerously-skip-permissions",
      "--allowedTools",
      "Read",
      "--disallowedTools=Bash",
    ];
    expect(await boundIn("spawn", words)).toMatchObject({
      permissionMode: "bypassPermissions",
      allowedTools: ["Read"],
      disallowedTools: ["Bash"],
    });
    const run = await boundIn("run", ["goal", "--dangerously-skip-permissions"]);
    expect(run.permissionMode).toBe("bypassPermissions");
  });

  it("are refused if they contradict the option", () => {
    expect(() => parseSlowly(sample, ["a", "--mode", "safe", "--go-fast"])).toThrow(
      "sample accepts --mode safe or --go-fast, not both.",
    );
  });
});

describe("the command", () => {
  const all = Object.entries(COMMANDS);

  it.each(all)("%s has its own name, a summary and two or three examples", async (name, load) => {
    const { command } = await load();
    expect(command.name).toBe(name);
    expect(command.summary).not.toMatch(/\.$/);
    expect(command.examples.length).toBeGreaterThanOrEqual(command.raw ? 1 : 2);
    expect(command.examples.length).toBeLessThanOrEqual(3);
  });

  it.each(all)("%s has a help text with its options and examples", async (_, load) => {
    const { command } = await load();
    const parsed = parseWithCommander(command, ["--help"]);
    if (!("help" in parsed)) throw new Error("no help");
    for (const example of command.examples) expect(parsed.help).toContain(example);
    expect(parsed.help.includes("--json")).toBe(command.raw !== true);
  });
});
