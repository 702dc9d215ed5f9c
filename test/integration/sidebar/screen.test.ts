import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pace } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SidebarData } from "../../../src/sidebar/data.ts";
import type { Content } from "../../../src/sidebar/documents.ts";
import { displayWidth } from "../../../src/text/cell-width.ts";
import { gridText } from "../../../src/text/terminal-text.ts";
import { bundleProgram } from "../../support/processes/bundle-program.ts";
import { DIFF } from "../../support/sidebar/document-data.ts";
import { AUDIT } from "../../support/sidebar/sidebar-data.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

let directory = "";
let program = "";

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "tt-sidebar-"));
  program = await bundleProgram("test/support/sidebar/sidebar-harness.ts", directory);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The team's data, and the documents that its sidebar can open. */
interface HarnessData extends SidebarData {
  readonly documents?: Partial<Record<Content["kind"], Content>>;
}

const plan = Array.from({ length: 60 }, (_, i) => `- step ${i + 1}`).join("\n");
const WITH_DOCUMENTS: HarnessData = {
  ...AUDIT,
  documents: {
    request: {
      kind: "request",
      request: {
        id: "plan_approval-1@writer@audit",
        kind: "plan",
        from: "writer",
        summary: "Write",
        planContent: plan,
      },
    },
    diff: { kind: "diff", diff: DIFF },
    messages: { kind: "messages", messages: AUDIT.messages, own: "team-lead" },
    log: { kind: "log", rows: Array.from({ length: 90 }, (_, i) => `row ${i + 1}`) },
    teams: {
      kind: "teams",
      teams: ["audit", "docs"].map((team) => ({
        ...{ team, displayName: team, members: 1, waiting: 0, isShown: team === "audit" },
      })),
    },
  },
};

interface SidebarOptions {
  readonly width?: number;
  readonly height?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly data?: HarnessData;
  /** Compiled description of xterm-256color in the user's home. */
  readonly terminfo?: Buffer;
}

/** Opens the sidebar in the only pane of a private server; a shell script reports when the sidebar ends. */
async function openSidebar({
  width = 34,
  height = 40,
  env = {},
  data = WITH_DOCUMENTS,
  terminfo,
}: SidebarOptions = {}) {
  const box = privateTmux();
  const dataFile = join(box.home, "data.json");
  const logFile = join(box.home, "log");
  const pidFile = join(box.home, "pid");
  writeFileSync(dataFile, JSON.stringify(data));
  if (terminfo !== undefined) {
    mkdirSync(join(box.home, ".terminfo/x"), { recursive: true });
    writeFileSync(join(box.home, ".terminfo/x/xterm-256color"), terminfo);
  }
  const words = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  // Compares the terminal's modes before and after: the sidebar must restore them.
  const script = [
    "stty -a | tr '\\n' ' ' > $HOME/before; printf 'ready\\n'",
    `env ${words.join(" ")} sh -c 'echo $$ > "$HOME/pid"; exec "${process.execPath}" "${program}" "${dataFile}" "${logFile}"'`,
    "stty -a | tr '\\n' ' ' > $HOME/after; printf 'back\\n'; exec cat",
  ].join("; ");
  const size = ["-x", `${width}`, "-y", `${height}`];
  box.tmux(
    "new-session",
    "-d",
    "-s",
    "s",
    ...size,
    "--",
    "/bin/sh",
    "-c",
    script,
    ";",
    "set",
    "-g",
    "status",
    "off",
  );
  box.tmux("resize-window", "-t", "=s:", ...size);
  const rows = (): string[] => box.tmux("capture-pane", "-p", "-t", "=s:").split("\n");
  const log = (): string[] => readFileSync(logFile, "utf8").trim().split("\n");
  const sees = (text: string): Promise<string> =>
    eventually(`“${text}” on the screen`, () => rows().find((row) => row.includes(text)));
  await sees("q close");
  return {
    ...box,
    rows,
    log,
    sees,
    keys: (...keys: string[]) => box.tmux("send-keys", "-t", "=s:", ...keys),
    pane: (format: string) => box.tmux("display-message", "-p", "-t", "=s:", format),
    resize: (w: number, h: number) => box.tmux("resize-window", "-t", "=s:", "-x", `${w}`, "-y", `${h}`),
    show(next: HarnessData | "gone" | "broken") {
      writeFileSync(dataFile, typeof next === "string" ? next : JSON.stringify(next));
      process.kill(Number(readFileSync(pidFile, "utf8")), "SIGUSR1");
    },
    file: (name: string) => readFileSync(join(box.home, name), "utf8"),
  };
}

/** Returns a compiled terminal description (term(5)) with a name and no capabilities. */
function emptyTerminfo(name: string): Buffer {
  const header = Buffer.from(Int16Array.of(0o432, name.length + 1, 0, 0, 0, 0).buffer);
  return Buffer.concat([header, Buffer.from(`${name}\0\0`)]);
}

describe("sidebar in a pane", () => {
  test("moves the selection with j and k, and focuses the selected member's pane on Enter", async () => {
    const { keys, sees, log } = await openSidebar();
    keys("j");
    await sees("▌● inventory");
    keys("Down");
    await sees("▌● history");
    keys("k", "Enter");
    await eventually("the focus of the pane", () => log().includes("focus inventory"));
  });

  test("shows why a pane cannot be focused, until Esc", async () => {
    const { keys, sees, rows } = await openSidebar();
    keys("j", "j", "Enter");
    await sees("✗ The pane of history is gone.");
    keys("j");
    await sees("▌▲ writer");
    await sees("Esc clear");
    keys("Escape");
    await eventually("the end of the failure", () => !rows().some((row) => row.includes("is gone")));
  });

  test("opens an input line for a note on a and r: Enter sends it, Esc cancels it (S61)", async () => {
    const { keys, sees, log } = await openSidebar();
    const answers = (): string[] => log().filter((entry) => entry.startsWith("answer"));
    keys("n", "r");
    await sees(" reject writer: ▏");
    keys("-l", "jq é檢");
    await sees(" reject writer: jq é檢▏");
    keys("Escape");
    await sees("q close");
    expect(answers()).toEqual([]);
    keys("r");
    await sees(" reject writer: ▏");
    keys("-l", "too longg");
    keys("BSpace", "Enter");
    await sees("writer is notified");
    expect(answers()).toHaveLength(1);
    expect(JSON.parse(answers()[0]?.replace("answer ", "") ?? "")).toMatchObject({
      ...{ id: "plan_approval-1@writer@audit", from: "writer", verdict: "no", note: "too long" },
    });
  });

  test("treats a paste of several lines as text, never as keys", async () => {
    const { keys, sees, log, rows, tmux } = await openSidebar();
    const paste = (text: string): void => {
      tmux("set-buffer", text);
      tmux("paste-buffer", "-p", "-t", "=s:");
    };
    keys("j");
    await sees("▌● inventory");
    paste("shut\nKy");
    await sees("pasted text is not a key");
    keys("m");
    await sees("to inventory: ▏");
    paste("one\ntwo\n");
    await sees("to inventory: one ⏎ two▏");
    keys("Home", "-");
    await sees("one ⏎ -▏two");
    keys("Enter");
    const sent = `message ${JSON.stringify({ to: "inventory", text: "one\n-two" })}`;
    await eventually("the message", () => log().includes(sent));
    expect(log().filter((entry) => /^(?:shutdown|kill|interrupt|hide)/.test(entry))).toEqual([]);
    expect(rows().join("")).not.toContain("200~");
  });

  test("accepts extended keys: Shift+Enter starts a line and is not read as Esc, Shift+Space types a space", async () => {
    const { keys, sees, log } = await openSidebar();
    const bytes = (text: string) => keys("-H", ...[...Buffer.from(text)].map((byte) => byte.toString(16)));
    bytes("n\u001b[114;1u");
    await sees(" reject writer: ▏");
    bytes("a\u001b[13;2ub\u001b[27;2;13~c\u001b[32;2ud\u001b[65;2u");
    await sees(" reject writer: a ⏎ b ⏎ c dA▏");
    bytes("\u001b[13;5u");
    await sees("writer is notified");
    const [answer = ""] = log().filter((entry) => entry.startsWith("answer"));
    expect(JSON.parse(answer.replace("answer ", ""))).toMatchObject({ note: "a\nb\nc dA" });
  });

  test("shows the task list on t and the keys on ?", async () => {
    const { keys, sees } = await openSidebar();
    keys("t", "G");
    await sees("after #3 #4 #5");
    keys("?");
    await sees("approve the shown request");
    keys("Escape");
    await sees("after #3 #4 #5");
    keys("t");
    await sees("MEMBERS");
  });

  test("selects a member on a click, and focuses its pane on a second click", async () => {
    const { keys, rows, sees, pane, log } = await openSidebar();
    // A click during which the mouse moves must not count as two.
    expect(pane("#{mouse_standard_flag} #{mouse_button_flag} #{mouse_all_flag}")).toBe("1 0 0");
    const row = rows().findIndex((text) => text.includes("● history")) + 1;
    const press = (): string => keys("-l", `\x1b[<0;5;${row}M\x1b[<0;5;${row}m`);
    press();
    await sees("▌● history");
    press();
    await eventually("the focus of the pane", () => log().includes("focus history"));
  });

  test("moves the selection with the wheel, down and up, but not sideways", async () => {
    const { keys, sees } = await openSidebar();
    keys("j");
    await sees("▌● inventory");
    keys("-l", "\x1b[<65;5;5M");
    await sees("▌● history");
    // blessed reports a change of the focus as a mouse event.
    keys("-l", "\x1b[I\x1b[<67;5;5M\x1b[<64;5;5M");
    await sees("▌● inventory");
  });

  test.each([
    ["at most ten times a second", 0, 100],
    ["less often if a redraw costs much CPU time", 16, 400],
  ])("redraws %s when its bell rings", async (_, loadCpuMs, gapMs) => {
    const { show, sees, log } = await openSidebar({ env: { LOAD_CPU_MS: `${loadCpuMs}` } });
    const before = log().length;
    const begin = performance.now();
    for (let i = 1; i <= 80; i += 1) {
      show({ ...AUDIT, status: { ...AUDIT.status, team: `round ${i}` } });
      await pace(10);
    }
    await sees("round 80");
    const readings = log().length - before;
    expect(readings).toBeGreaterThan(0);
    expect(readings).toBeLessThanOrEqual((performance.now() - begin) / gapMs + 2);
  });

  test("shows a read error, and reads again at the next ring", async () => {
    const { show, sees } = await openSidebar();
    show("broken");
    await sees("Unexpected token");
    show({ ...AUDIT, status: { ...AUDIT.status, team: "mended" } });
    await sees("mended");
  });

  test("shows that a member has failed, until Esc", async () => {
    const { show, keys, rows, sees } = await openSidebar();
    const members = AUDIT.status.members.map((one) =>
      one.name === "history" ? { ...one, state: "failed" as const, activity: "no credit" } : one,
    );
    show({ ...AUDIT, status: { ...AUDIT.status, members } });
    await sees("✗ history failed: no credit");
    keys("Escape");
    const isShown = (): boolean => rows().some((row) => row.includes("history failed: no credit"));
    await eventually("the end of the message", () => !isShown());
  });

  test("redraws every row when the window's height changes", async () => {
    const { resize, rows, sees } = await openSidebar();
    const [top] = rows();
    resize(34, 20);
    await eventually("the same first row in 20", () => rows().length <= 21 && rows()[0] === top);
    resize(34, 40);
    await sees("MESSAGES");
    expect(rows()[0]).toBe(top);
  });

  test("adapts its layout to a new size", async () => {
    const { resize, rows, sees } = await openSidebar();
    resize(20, 24);
    await eventually("the narrow layout", () => rows().includes(" n next request") && rows().length === 24);
    await sees("writer asks to a…");
    resize(100, 40);
    await eventually("two columns", () => rows().some((row) => /MEMBERS.*│ +TASKS/.test(row)));
    expect(rows().filter((row) => row.includes("audit "))).toHaveLength(1);
  });

  test.each(["q", "C-c"])("closes on %s and restores the terminal", async (key) => {
    const { keys, sees, rows, pane, log, file } = await openSidebar();
    keys(key);
    await sees("back");
    expect(rows().slice(0, 2)).toEqual(["ready", "back"]);
    expect(log().at(-1)).toBe("end closed");
    expect(file("after")).toBe(file("before"));
    expect(
      pane("#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_flag} #{keypad_cursor_flag}"),
    ).toBe("0 1 0 0 0");
  });

  test("ends when the team is gone", async () => {
    const { show, sees, log } = await openSidebar();
    show("gone");
    await sees("back");
    expect(log().at(-1)).toBe("end team-gone");
  });
});

describe.each([
  [200, 50],
  [120, 40],
  [80, 24],
  [40, 10],
])("sidebar of %i × %i cells", (width, height) => {
  const entries = (log: readonly string[], kind: string): unknown[] =>
    log
      .filter((entry) => entry.startsWith(`${kind} `))
      .map((entry) => JSON.parse(entry.slice(kind.length + 1)));

  test("approves a long plan only when its whole text was on the screen, with a note", async () => {
    const { keys, sees, rows, log } = await openSidebar({ width, height });
    keys("n", "v");
    await sees("• step 1");
    // On these screens, G skips a part of the plan.
    if (height <= 24) {
      keys("G", "y");
      await sees("not shown yet");
    }
    // A key pressed as the end of the request appears is not its answer.
    await eventually("the answer's line", () => {
      if (rows().some((row) => row.includes("approve writer:"))) return true;
      keys(rows().some((row) => row.includes("• step 60")) ? "y" : "Space");
      return false;
    });
    keys("-l", "go");
    await sees("approve writer: go▏");
    keys("Enter");
    await eventually("the answer", () => entries(log(), "answer").length === 1);
    expect(entries(log(), "answer")).toEqual([
      { id: "plan_approval-1@writer@audit", from: "writer", verdict: "yes", note: "go" },
    ]);
  });

  test("sends comments on lines of a diff together", async () => {
    const { keys, sees, log } = await openSidebar({ width, height });
    keys("j", "d");
    await sees("11 +   return clock.now();");
    keys("j", "j", "j", "c");
    await sees("line 11: ▏");
    keys("-l", "inject it");
    keys("Enter");
    await sees("✎ inject it");
    keys("q");
    await sees("q close");
    keys("q");
    await sees("close without sending 1 comment?");
    keys("n", "d");
    await sees("✎ inject it");
    keys("s");
    await sees("sent 1");
    expect(entries(log(), "comments")).toEqual([
      {
        member: "inventory",
        comments: [
          {
            path: "src/clock.ts",
            line: 11,
            side: "after",
            quote: "  return clock.now();",
            text: "inject it",
          },
        ],
      },
    ]);
  });

  test("writes messages below the history, and kills only after y", async () => {
    const { keys, sees, log } = await openSidebar({ width, height });
    keys("j", "m");
    await sees("to inventory: ▏");
    await sees("completed");
    keys("-l", "go on");
    await sees("to inventory: go on▏");
    keys("Enter");
    await eventually("the message", () => entries(log(), "message").length === 1);
    expect(entries(log(), "message")).toEqual([{ to: "inventory", text: "go on" }]);
    keys("Escape");
    await sees("m write");
    keys("Escape");
    await sees("q close");
    keys("K");
    await sees("kill inventory?");
    keys("n");
    await sees("q close");
    keys("K");
    await sees("kill inventory?");
    keys("y");
    await sees("kill of inventory is done");
    expect(log().filter((entry) => entry.startsWith("kill"))).toEqual(["kill inventory"]);
  });

  test("follows a log, searches it, and switches to another team", async () => {
    const { keys, sees, show, log } = await openSidebar({ width, height });
    keys("j", "l");
    await sees("following");
    const rows = [...Array.from({ length: 90 }, (_, i) => `row ${i + 1}`), "the newest"];
    show({ ...WITH_DOCUMENTS, documents: { ...WITH_DOCUMENTS.documents, log: { kind: "log", rows } } });
    await sees("the newest");
    keys("/");
    await sees("search:");
    keys("-l", "row 17");
    keys("Enter");
    await sees("row 17");
    keys("q", "T");
    await sees("▌audit");
    keys("j");
    await sees("▌docs");
    keys("Enter");
    await eventually("the other team", () => log().at(-1) === "end other-team");
  });
});

describe("sidebar rendering", () => {
  test.each([
    ["locale C", { LANG: "C", LC_ALL: "C", LC_CTYPE: "C" }],
    ["terminal screen-256color", { TERM: "screen-256color" }],
    ["a dumb terminal and no locale", { TERM: "dumb", LANG: "", LC_ALL: "" }],
  ])("renders correctly with %s", async (_where, env) => {
    const { rows, pane } = await openSidebar({ env });
    expect(rows()[7]).toBe("▌○ team-lead                  8.2k");
    expect(rows().find((row) => row.includes("━"))).toMatch(/^ ━+─+$/);
    expect(pane("#{alternate_on}")).toBe("1");
  });

  test("shows only ASCII without UTF-8, and the request stays readable", async () => {
    const member = AUDIT.status.members[0] as SidebarData["status"]["members"][number];
    const asked = { id: "p", kind: "permission", from: member.name, summary: "Bash(rm é)" } as const;
    const data: HarnessData = {
      status: {
        ...AUDIT.status,
        members: [{ ...member, activity: "檢查 🇩🇪 ❤️ é|" }],
        approvals: [{ ...asked, change: ["$ rm é"] }],
      },
      messages: [],
      documents: {
        request: {
          kind: "request",
          request: { ...asked, input: { command: "rm é" }, always: ["Bash(rm é)"] },
        },
      },
    };
    const { rows, keys, sees } = await openSidebar({ env: { SIDEBAR_ASCII: "1" }, data });
    await sees("Bash(rm \\u00e9)");
    expect(rows().join("")).toMatch(/^[\x20-\x7e]*$/);
    expect(rows().join("\n")).toContain("|o team-lead");
    keys("n", "v");
    await sees("always: Bash(rm \\u00e9)");
    expect(rows().join("")).toMatch(/^[\x20-\x7e]*$/);
  });

  test("renders correctly when the home's terminfo entry has no capabilities", async () => {
    const { rows } = await openSidebar({ terminfo: emptyTerminfo("xterm-256color") });
    expect(rows()[7]).toBe("▌○ team-lead                  8.2k");
  });

  test("renders correctly when wide characters appear, move and disappear", async () => {
    const names = ["檢查員 🎉 ❤️", "x檢查員 👍🏽", "é\u0301ä 🇩🇪 end", "plain", "한글 檢"];
    const round = (shift: number): SidebarData => ({
      status: {
        ...AUDIT.status,
        team: `round ${shift}`,
        members: names.map((name, i) => ({
          ...(AUDIT.status.members[0] as SidebarData["status"]["members"][number]),
          name: `${i}`,
          activity: `${" ".repeat(shift)}${"a".repeat(shift)}${names[(i + shift) % names.length] ?? name}|`,
        })),
      },
      messages: [],
    });
    const { show, sees, rows } = await openSidebar({ data: round(0) });
    for (let shift = 1; shift <= 5; shift += 1) {
      show(round(shift));
      await sees(`round ${shift}`);
      const activities = rows().filter((row) => row.endsWith("|"));
      expect(activities.map((row) => row.slice(3))).toEqual(
        names.map((_, i) => gridText(`${"a".repeat(shift)}${names[(i + shift) % names.length]}|`)),
      );
    }
  });
});

/** Prints each text, asks the terminal for the cursor position, and writes the columns to a file. */
const ASK = `
  process.stdin.setRawMode(true);
  const [file, ...texts] = process.argv.slice(1);
  const columns = [];
  const next = () => process.stdout.write("\\r\\x1b[K" + texts[columns.length] + "\\x1b[6n");
  process.stdin.on("data", (data) => {
    columns.push(Number(/;(\\d+)R/.exec(String(data))[1]) - 1);
    if (columns.length < texts.length) return next();
    require("node:fs").writeFileSync(file, JSON.stringify(columns));
  });
  next();
`;

test("displayWidth › equals the cells that tmux uses for a text", async () => {
  const samples = [
    "plain",
    "檢查員",
    "한글",
    "e\u0301tude",
    "🎉🎉",
    "❤️x",
    "👍🏽x",
    "👩‍🚀x",
    "🇩🇪x",
    "…→●○◐◌▌━─▲✗✓‖◑↓↵",
    "ｗｉｄｅ",
    "ไทยกำ",
  ];
  const box = privateTmux();
  const file = join(box.home, "columns");
  const texts = samples.map(gridText);
  box.tmux(
    "new-session",
    "-d",
    "-s",
    "s",
    "-x",
    "80",
    "-y",
    "24",
    "--",
    process.execPath,
    "-e",
    ASK,
    file,
    ...texts,
  );
  const columns = await eventually("the answers", () => existsSync(file) && readFileSync(file, "utf8"));
  expect(JSON.parse(columns)).toEqual(texts.map(displayWidth));
});
