import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { type Person, personInside } from "../../support/tmux/terminal-user.ts";

const HEADER = { version: 2, width: 60, height: 10, timestamp: 1_700_000_000, title: "ada@crew" };

function castIn(t: PrivateTmux, events: readonly (readonly unknown[])[], header: object = HEADER): string {
  const path = join(t.home, "ada.cast");
  writeFileSync(path, `${[header, ...events].map((line) => JSON.stringify(line)).join("\n")}\n`);
  return path;
}

const MARKED = [
  [0.1, "o", "alpha\r\n"],
  [600, "m", "lead: go"],
  [600, "o", "beta\r\n"],
  [5000, "m", "lead: stop"],
  [5000, "o", "gamma\r\n"],
  [9000, "o", "omega\r\n"],
];

function replaying(t: PrivateTmux, ...more: string[]): Person {
  return personInside(t, ["replay", "ada.cast", ...more], { size: { width: 80, height: 24 } });
}

describe("replay", () => {
  it("plays in real time with short pauses, and leaves the last screen", async () => {
    const t = privateTmux();
    castIn(t, MARKED);
    const person = replaying(t, "--idle-limit", "0.1");
    expect(await person.code()).toBe(0);
    expect(person.screen()).toMatch(/alpha\nbeta\ngamma\nomega$/);
  });

  it("pauses, steps, goes to the next and previous marker, and ends, on keys", async () => {
    const t = privateTmux();
    castIn(t, MARKED);
    const person = replaying(t, "--idle-limit", "1000");
    await person.sees("alpha");
    expect(person.screen()).not.toContain("beta");
    const title = (): string => t.tmux("display-message", "-p", "-t", person.pane, "#{pane_title}");
    const shows = (text: string) => eventually(text, () => title().includes(text));
    person.type("]");
    await person.sees("beta");
    await shows("playing · 10:00 of 2:30:00 · lead: go");
    person.type("Space");
    await shows("paused");
    person.type("]");
    await shows("lead: stop");
    person.type(".");
    await person.sees("gamma");
    expect(person.screen()).not.toContain("omega");
    // The escape sequence of Up contains Escape and “[”, but must not act as these keys.
    person.type("Up", "[");
    await shows("paused · 10:00 of 2:30:00 · lead: go");
    await eventually(
      "an earlier screen",
      () => !/gamma/.test(t.tmux("capture-pane", "-p", "-t", person.pane)),
    );
    person.type("q");
    expect(await person.code()).toBe(0);
  });

  it("begins at a marker, by number or by label", async () => {
    const t = privateTmux();
    castIn(t, MARKED);
    const person = replaying(t, "--idle-limit", "1000", "--to-marker", "STOP");
    await person.sees("gamma");
    person.type("Escape");
    expect(await person.code()).toBe(0);
    const refused = await teamsIn(t.env, t.home)(["replay", "ada.cast", "--to-marker", "3"]);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("no marker")]);
  });

  it.each([["at its end"], ["on Ctrl-C"]])("restores the terminal %s", async (how) => {
    const t = privateTmux();
    const modes = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2;5r\x1b[4h\x1b[41m\x1b(0lqk\x0e";
    castIn(t, [[0, "o", `first\r\n${modes}inside`], ...(how === "at its end" ? [] : [[5000, "o", "x"]])]);
    const person = replaying(t, "--idle-limit", "1000");
    if (how === "on Ctrl-C") {
      await eventually("the alternate screen", () => state("#{alternate_on}") === "1");
      person.type("C-c");
    }
    function state(format: string): string {
      return t.tmux("display-message", "-p", "-t", person.pane, format);
    }
    expect(await person.code()).toBe(how === "at its end" ? 0 : 130);
    const format =
      "#{alternate_on} #{cursor_flag} #{wrap_flag} #{insert_flag} #{scroll_region_upper}-#{scroll_region_lower}";
    expect(state(format)).toBe("0 1 1 0 0-23");
    person.type("plain words", "Enter");
    await person.sees("plain words\nplain words");
  });

  it("keeps the control sequences of a hostile recording from the terminal", async () => {
    const t = privateTmux({ config: "set -g set-clipboard on" });
    const hostile =
      "\x1b]52;c;ZXZpbA==\x07\x1b]2;evil title\x07\x1b[c\x1b[6n\x1b[>q\x1bP+q544e\x1b\\\x1b]10;?\x07\x1bPtmux;\x1b\x1b[6n\x1b\\\x1b[21t\x05";
    castIn(t, [
      [0, "o", `before${hostile}after\r\n`],
      [0.1, "m", "evil\u001b]52;c;eA==\u0007label"],
      [0.2, "o", "end\r\n"],
    ]);
    const person = replaying(t);
    expect(await person.code()).toBe(0);
    await person.sees("beforeafter");
    expect(t.tmux("list-buffers")).toBe("");
    expect(t.tmux("display-message", "-p", "-t", person.pane, "#{pane_title}")).not.toContain("evil title");
    // The terminal's answers would become input of the program that runs after the replay.
    person.type("typed", "Enter");
    await person.sees("typed\ntyped");
    expect(person.screen()).not.toMatch(/\^\[|\[\?|;rgb|\d+;\d+R/);
  });

  it("names malformed lines, plays the rest up to the last whole line, and refuses a bad header", async () => {
    const t = privateTmux();
    const path = castIn(t, [[0, "o", "one\r\n"], ["x"], [0.1, "o", "two\r\n"]]);
    writeFileSync(path, '[0.2,"o","half', { flag: "a" });
    const person = replaying(t);
    await person.sees("one\ntwo");
    expect(await person.code()).toBe(0);
    expect(person.screen()).toContain("1 malformed line left out (3)");
    writeFileSync(path, '{"version":3}\n');
    const refused = await teamsIn(t.env, t.home)(["replay", "ada.cast", "--json"]);
    expect([refused.code, refused.error().code]).toEqual([1, "CORRUPT_FILE"]);
  });

  it("lists recordings and markers without a terminal", async () => {
    const t = privateTmux();
    castIn(t, MARKED);
    const teams = teamsIn(t.env, t.home);
    const listed = await teams(["replay", "ada.cast"]);
    expect(listed.out).toMatch(/ada@crew +\S+ \S+ +2 h 30 min +60x10 +\d+ bytes +2 +\S+ada\.cast/);
    expect((await teams(["replay", "ada.cast", "--json"])).json()).toMatchObject({
      recordings: [
        {
          title: "ada@crew",
          columns: 60,
          rows: 10,
          lengthSeconds: 9000,
          startedAt: "2023-11-14T22:13:20.000Z",
        },
      ],
      problems: [],
    });
    expect((await teams(["replay", "ada.cast", "--markers"])).out).toMatch(
      /1 +10:00 +lead: go\n2 +1:23:20 +lead: stop/,
    );
  });
});
