import { describe, expect, it } from "vitest";
import { countOption, listOption, secondsOption, timeOption } from "../../../src/cli/option-values.ts";
import { TeamError } from "../../../src/errors.ts";
import type { TeamStatus } from "../../../src/operations/status.ts";
import { line, safeStyler, visible } from "../../../src/terminal/output.ts";
import { exitOfResume, failureOf, report } from "../../../src/terminal/report-error.ts";
import { statusLine } from "../../../src/terminal/status-line.ts";
import { statusText } from "../../../src/terminal/status-text.ts";
import { table } from "../../../src/terminal/table.ts";
import { taskTable } from "../../../src/terminal/task-text.ts";
import { compact } from "../../../src/text/compact-number.ts";

const plain = safeStyler(false);

describe("text from other sources", () => {
  it("is stripped of control characters in every output helper", () => {
    expect(visible("a\x1b[2Jb\nc\td\u202ee")).toBe("ab c de");
    expect(line`<${"x\x1b]0;t\x07y"}> ${3} ${plain("p\nq")}`).toBe("<xy> 3 p q");
    expect(safeStyler(true)("a\x1b[0m", "bold").styled).toBe("\x1b[1ma\x1b[22m");
  });
});

describe("table", () => {
  it("aligns columns by cell width, with numbers to the right", () => {
    const rows = [
      ["検査", 5, "x"],
      ["a", 1234, plain("yy")],
    ];
    expect(table(["NAME", "N", "LAST"], rows, { right: [1] })).toBe(
      ["NAME     N  LAST", "検査     5  x", "a     1234  yy"].join("\n"),
    );
  });

  it("cuts the last column to the terminal's width", () => {
    expect(table(["A", "B"], [["x", "y".repeat(50)]], { columns: 20 }).split("\n")[1]).toBe(
      `x  ${"y".repeat(16)}…`,
    );
  });

  it("leaves out empty and then spare columns if the last column has no room", () => {
    const rows = [["dev", "bypassPermissions", "", 5, "reads the parser"]];
    const narrow = (columns: number) =>
      table(["MEMBER", "MODE", "TASK", "N", "DOES"], rows, { columns, right: [3], spare: ["MODE", "N"] });
    expect(narrow(60)).toBe(
      [
        "MEMBER  MODE               TASK  N  DOES",
        "dev     bypassPermissions        5  reads the parser",
      ].join("\n"),
    );
    expect(narrow(45)).toBe(
      ["MEMBER  MODE               N  DOES", "dev     bypassPermissions  5  reads the pars…"].join("\n"),
    );
    expect(narrow(40)).toBe(["MEMBER  N  DOES", "dev     5  reads the parser"].join("\n"));
    expect(narrow(22)).toBe(["MEMBER  DOES", "dev     reads the par…"].join("\n"));
  });

  it("handles 200,000 rows", () => {
    const rows = Array.from({ length: 200_000 }, (_, index) => [index, "x"]);
    expect(table(["N", "LAST"], rows).split("\n").at(-1)).toBe("199999  x");
  });
});

describe("failureOf", () => {
  const system = (code: string): Error => Object.assign(new Error(`${code}: open '/x'`), { code });

  it.each([
    [new TeamError("TASK_BLOCKED", "m", { hint: "h" }), "TASK_BLOCKED", 4],
    [system("EACCES"), "PERMISSION_DENIED", 1],
    [system("EROFS"), "STORAGE_ERROR", 1],
    [system("ENOSPC"), "STORAGE_ERROR", 1],
    [new TypeError("x is undefined"), "INTERNAL", 1],
    ["a string", "INTERNAL", 1],
  ])("maps %s to %s and exit status %i", (error, code, exit) => {
    expect(failureOf(error)).toMatchObject({ code, exit });
  });

  it("says what refused a system call, with a hint and the system's code", () => {
    expect(failureOf(system("ENOSPC"))).toEqual({
      code: "STORAGE_ERROR",
      message: "The disk refused an operation (ENOSPC: open '/x').",
      hint: "Free some disk space on that file system and try again.",
      exit: 1,
      details: { errno: "ENOSPC" },
    });
    expect(failureOf(system("EACCES")).message).toBe("The system refused an operation (EACCES: open '/x').");
  });
});

describe("report", () => {
  const reported = (error: unknown, options: { json?: boolean; verbose?: boolean }): string => {
    let text = "";
    const io = {
      env: {},
      terminal: { stdin: false, stdout: false, stderr: false },
      err: (piece: string) => {
        text += piece;
      },
    };
    report(error, io, { json: false, verbose: false, ...options });
    return text;
  };
  const error = new TeamError("TEAM_NOT_FOUND", "No \x1b[31mteam.", { hint: "Make one.", details: { a: 1 } });

  it("prints message, code and hint without control characters", () => {
    expect(reported(error, {})).toBe("teams: No team. (TEAM_NOT_FOUND)\n  hint: Make one.\n");
  });

  it("prints the same fields and the details as JSON with --json", () => {
    expect(JSON.parse(reported(error, { json: true }))).toEqual({
      error: { code: "TEAM_NOT_FOUND", message: "No \x1b[31mteam.", hint: "Make one.", details: { a: 1 } },
    });
  });

  it("prints the stack and causes only with --verbose", () => {
    const cause = new Error("outer", { cause: new Error("inner") });
    expect(reported(cause, {})).not.toContain("output.test");
    expect(reported(cause, { verbose: true })).toMatch(/output\.test[\s\S]*caused by Error: inner/);
  });
});

describe("option values", () => {
  it("secondsOption reads a number of seconds as milliseconds", () => {
    expect(secondsOption("1.5", "timeout")).toBe(1500);
    expect(secondsOption("0", "timeout")).toBe(0);
    for (const wrong of ["-1", "1s", "", "1e9", "9999999"]) {
      expect(() => secondsOption(wrong, "timeout")).toThrow(TeamError);
    }
  });

  it("countOption accepts positive integers only", () => {
    expect(countOption("40", "-n")).toBe(40);
    for (const wrong of ["0", "-1", "1.5", "x"]) expect(() => countOption(wrong, "-n")).toThrow(TeamError);
  });

  it("timeOption accepts a timestamp or a number of seconds ago", () => {
    expect(timeOption("60", "since", 100_000)).toBe(40_000);
    expect(timeOption("1970-01-01T00:00:01Z", "since", 0)).toBe(1000);
    expect(() => timeOption("soon", "since", 0)).toThrow(TeamError);
  });

  it("listOption splits at commas", () => {
    expect(listOption(["1, 2", "3", ""])).toEqual(["1", "2", "3"]);
  });
});

describe("status texts", () => {
  it("compact shortens large numbers", () => {
    expect([0, 999, 1234, 45_678, 999_999, 3_400_000].map(compact)).toEqual([
      ...["0", "999", "1.2k", "46k", "1.0M", "3.4M"],
    ]);
  });

  it("taskTable marks a task as blocked if a blocker is not completed", () => {
    const task = { description: "", blocks: [], status: "pending" as const };
    const all = [
      { ...task, id: "1", subject: "a", blockedBy: [] },
      { ...task, id: "2", subject: "b", blockedBy: ["1", "9"] },
    ];
    expect(taskTable(all.slice(1), { styleText: plain, columns: undefined, among: all })).toMatch(
      /#2 +blocked +#1 +b$/,
    );
  });

  const team: TeamStatus = {
    team: "a",
    displayName: "audit",
    leadAlive: null,
    members: [],
    metadata: {},
    tasks: { pending: 0, inProgress: 0, completed: 0, blocked: 0, list: [] },
    deadlock: null,
    approvals: [],
    budget: null,
  };

  it("statusLine fits a team into one line", () => {
    expect(statusLine(team)).toBe("a no teammates");
  });

  it("statusText names the command that shows a request, if the row shows only a part", () => {
    const call = { kind: "permission", from: "dev", summary: "Bash(ls)", at: 1 } as const;
    const approvals = [
      { ...call, id: "perm-1" },
      { ...call, id: "perm-2", change: ["$ ls", "$ rm x"] },
      { ...call, id: "perm-3", partial: true as const },
    ];
    const rows = statusText({ ...team, approvals }, { styleText: plain, columns: undefined });
    expect(rows.match(/\(teams .*\)$/gm)).toEqual([
      "(teams approve dev)",
      "(teams approvals perm-2)",
      "(teams approvals perm-3)",
    ]);
  });

  it("statusText names the member for its oldest request, on a screen even if the row would be cut", () => {
    const call = { kind: "permission", from: "dev", at: 1 } as const;
    const long = "npm test -- --run test/unit/text/short-path.test.ts";
    const approvals = [
      { ...call, id: "perm-1", summary: `Bash(${long})` },
      { ...call, id: "perm-2", from: "Eve", summary: "Bash(ls)" },
      { ...call, id: "perm-3", from: "eve", summary: `Bash(${long} && ${long})` },
    ];
    const memberWord = (name: string): string => `${name}@a`;
    const rows = (columns: number): readonly string[] => {
      const out = { styleText: plain, columns };
      return statusText({ ...team, approvals }, out, undefined, { forScreen: true, memberWord }).split("\n");
    };
    expect(rows(80).slice(2, 8)).toEqual([
      "Waiting for you:",
      `  permission of dev: Bash(${long})`,
      "    teams approve dev@a",
      "  permission of Eve: Bash(ls) (teams approve Eve@a)",
      `  permission of eve: Bash(${long} && ${long})`,
      "    teams approvals perm-3",
    ]);
    expect(rows(60)[4]).toBe("    teams approvals dev@a");
    expect(rows(200)[3]).toBe(`  permission of dev: Bash(${long}) (teams approve dev@a)`);
  });

  it("statusText explains a deadlock and how to resolve it", () => {
    const reported = (deadlock: TeamStatus["deadlock"]): string | undefined =>
      statusText({ ...team, deadlock }, { styleText: plain, columns: undefined })
        .split("\n")
        .at(-1);
    expect(reported({ kind: "cycle", tasks: ["1", "2"] })).toBe(
      "No member can continue: #1 waits for #2, #2 for #1. Break the cycle at a task that is done or not needed: teams task done 1, or teams task rm 1",
    );
    expect(reported({ kind: "dead-owner", owner: "ada", tasks: ["3"] })).toBe(
      "No member can continue: #3 belongs to ada, who has ended. Assign it to another member: teams task update 3 --owner <name>",
    );
  });

  it("statusText shows only the first open tasks of a long list and names the command that lists the rest", () => {
    const task = (n: number) => ({
      id: String(n),
      subject: `subject ${n}`,
      description: "",
      status: n <= 50 ? ("completed" as const) : ("pending" as const),
      blocks: [],
      blockedBy: [],
    });
    const list = Array.from({ length: 10_000 }, (_, n) => task(n + 1));
    const tasks = { ...team.tasks, pending: 9_950, completed: 50, list };
    const rows = statusText({ ...team, tasks }, { styleText: plain, columns: undefined }).split("\n");
    expect(rows.filter((row) => row.startsWith("#")).map((row) => row.split(" ")[0])).toEqual(
      Array.from({ length: 30 }, (_, n) => `#${n + 51}`),
    );
    expect(rows.at(-1)).toBe("… and 9970 more: teams task list");
  });

  it("statusText shows each member's unread messages", () => {
    const member = { name: "dev", state: "idle", activity: "", exit: null, taskIds: [], color: null };
    const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const mail = { queued: 2, delivered: 0, inTurn: 1 };
    const members = [{ ...member, tokens, mail }] as unknown as TeamStatus["members"];
    expect(statusText({ ...team, members }, { styleText: plain, columns: undefined })).toContain(
      "2 queued, 1 in turn",
    );
  });

  it("statusText marks a working member as possibly stuck after the configured time without activity", () => {
    const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const mail = { queued: 0, delivered: 0, inTurn: 0 };
    const text = (state: string, now: number): string => {
      const facts = { name: "dev", state, activity: "Bash(make)", exit: null, taskIds: [], color: null };
      const member = { ...facts, tokens, mail, lastActivityAt: 1_000 };
      const members = [member] as unknown as TeamStatus["members"];
      const out = { styleText: plain, columns: undefined };
      return statusText({ ...team, members }, out, { now, stuckAfterMs: 600_000 });
    };
    expect(text("running", 601_000)).toMatch(/ {2}Bash\(make\)$/m);
    expect(text("running", 601_001)).toMatch(/stuck\? nothing for 10 min: Bash\(make\)$/m);
    for (const state of ["idle", "needs-input", "throttled"])
      expect(text(state, 10e6)).not.toContain("stuck");
  });

  it("statusText says how a member ended, without its last lines after a signal", () => {
    const mail = { queued: 0, delivered: 0, inTurn: 0 };
    const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const text = (signal: string | null, code: number | null): string => {
      const exit = { signal, code, lastLines: ["○ idle"] };
      const member = {
        name: "dev",
        state: "crashed",
        activity: "",
        exit,
        color: null,
        taskIds: [],
        mail,
        tokens,
      };
      const members = [member] as unknown as TeamStatus["members"];
      return statusText({ ...team, members }, { styleText: plain, columns: undefined });
    };
    expect(text("SIGKILL", null)).toMatch(/SIGKILL\s*$/);
    expect(text(null, 3)).toMatch(/exit code 3: ○ idle\s*$/);
  });

  it("statusText shows costs only if a member has any (S36)", () => {
    const member = { state: "idle", activity: "", exit: null, taskIds: [], color: null };
    const mail = { queued: 0, delivered: 0, inTurn: 0 };
    const tokens = { input: 1_500, output: 0, cacheRead: 0, cacheWrite: 0 };
    const text = (...costs: readonly number[]): string => {
      const all = costs.map((costUsd, i) => ({ ...member, mail, tokens, name: `m${i}`, costUsd }));
      const members = all as unknown as TeamStatus["members"];
      return statusText({ ...team, members }, { styleText: plain, columns: undefined });
    };
    expect(text(0)).not.toContain("COST");
    expect(text(1.234, 0.001, 0)).toMatch(/COST.*m0 .*1\.5k +\$1\.23.*m1 .*<\$0\.01.*m2 +idle +1\.5k\s*$/s);
  });
});

describe("exitOfResume", () => {
  it.each([
    ["alive", 0],
    ["restarted", 0],
    ["unknown", 0],
    ["failed", 1],
    ["down", 1],
  ] as const)("is for a member that is %s: %i", (outcome, status) => {
    expect(exitOfResume([{ outcome: "restarted" }, { outcome }])).toBe(status);
  });
});
