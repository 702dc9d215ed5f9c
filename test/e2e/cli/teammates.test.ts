import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusesShutdown } from "../../support/model/playbook-turns.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

interface Status {
  readonly members: readonly {
    readonly name: string;
    readonly state: string;
    readonly alive: boolean | null;
    readonly pid: number | null;
    readonly paneId: string | null;
    readonly exit: { readonly signal: string | null } | null;
  }[];
  readonly approvals: readonly Readonly<Record<"id" | "kind" | "from" | "summary", string>>[];
}

const PLAYBOOK = {
  version: 1,
  agents: {
    "*": [
      {
        on: { contains: "hello" },
        say: "I heard {{input}}",
        tools: [{ name: "Bash", input: { command: "touch seen && echo from-the-shell" } }],
      },
      { say: "all done" },
    ],
    stubborn: [refusesShutdown("not finished"), { say: "I stay" }],
  },
};

/** Creates a team in a private home and a private tmux server, led by commands. */
async function team(): Promise<{ readonly tmux: PrivateTmux; readonly teams: ReturnType<typeof teamsIn> }> {
  const tmux = privateTmux();
  const teams = teamsIn(tmux.env, tmux.home);
  writeFileSync(join(tmux.home, "play.json"), JSON.stringify(PLAYBOOK));
  expect((await teams(["create", "crew"])).code).toBe(0);
  return { tmux, teams };
}

const SPAWN = ["--model", "scripted:play.json", "--permission-mode", "bypassPermissions"] as const;

it("spawn without a model › warns about an unscripted name, and names the built-in role", async () => {
  const { teams } = await team();
  const silent = await teams(["spawn", "ada", "--teammate-mode", "process"]);
  expect(silent.code).toBe(0);
  expect(silent.err).toContain("no playbook has a part for ada");
  expect((await teams(["spawn", "scout", "--teammate-mode", "process"])).err).toContain(
    "plays the built-in audit",
  );
  expect((await teams(["kill", "--team", "crew", "--force"])).code).toBe(0);
});

it("commands to copy › quote names for the shell", async () => {
  const { teams } = await team();
  const spawn = [...SPAWN, "--teammate-mode", "process"];
  const odd = await teams(["spawn", ...spawn, "--", "$(touch pwned)"]);
  expect(odd.out).toContain("Its work: teams logs '$(touch pwned)'");
  const dashed = await teams(["spawn", ...spawn, "--", "-x"]);
  expect(dashed.out).toContain("teams logs -- -x");
  for (const name of ["$(touch pwned)", "-x"]) {
    expect((await teams(["kill", "--force", "--", name])).code).toBe(0);
  }
  const ended = await teams(["send", "--json", "--", "$(touch pwned)", "hello"]);
  expect(ended.error().hint).toBe("Spawn a new teammate: teams spawn '$(touch pwned)'");
  expect((await teams(["delete", "crew", "--force"])).code).toBe(0);
});

describe.each([
  ["tmux", "pane"],
  ["process", "process"],
])("a teammate in %s mode", (mode, place) => {
  it("is spawned, addressed, viewed and shut down by commands, and leaves nothing", async () => {
    const { tmux, teams } = await team();
    const spawned = await teams(["spawn", "dev", ...SPAWN, "--teammate-mode", mode, "--prompt", "hello"]);
    expect(spawned).toMatchObject({ code: 0, err: "" });
    expect(spawned.out).toMatch(new RegExp(`^dev is ready: ${place}.*, pid \\d+\\.`));
    // Each command in the output works.
    const named = [...spawned.out.matchAll(/teams (attach|peek|logs) dev\b/g)].map(([, word = ""]) => word);
    expect(named).toEqual(mode === "tmux" ? ["attach", "peek"] : ["logs"]);
    for (const word of named) expect((await teams([word, "dev"])).code).toBe(0);
    expect((await teams(["wait", "dev", "--timeout", "180"])).out).toBe("dev is idle\n");
    const screen = (await teams(["peek", "dev", "-n", "40"])).out;
    expect(screen).toContain("I heard hello");
    expect(screen).toContain("from-the-shell");
    const peeked = (await teams(["peek", "dev", "--json"])).json<{ agent: string; lines: string[] }>();
    expect(peeked.lines.join("\n")).toContain("all done");
    expect((await teams(["inbox"])).out).toContain("dev is idle");
    const down = await teams(["shutdown", "--all", "--timeout", "180", "--json"]);
    expect(down.json()).toMatchObject({ shutdowns: [{ name: "dev", outcome: "approved" }] });
    expect((await teams(["status"])).out).toContain("No teammates yet.");
    expect(existsSync(join(tmux.paths("crew").agent("dev").runtime, "bell"))).toBe(false);
    expect((await teams(["delete"])).code).toBe(0);
    expect(readdirSync(join(tmux.root, "teams"))).toEqual([]);
  });

  it("keeps running after it refuses a shutdown (exit 1), and ends on kill --force", async () => {
    const { teams } = await team();
    await teams(["spawn", "stubborn", ...SPAWN, "--teammate-mode", mode]);
    const refused = await teams(["shutdown", "stubborn", "--timeout", "180", "--json"]);
    expect(refused.code).toBe(1);
    expect(refused.json()).toMatchObject({
      shutdowns: [{ name: "stubborn", outcome: "rejected", reason: "not finished" }],
    });
    const deleted = await teams(["delete", "--json"]);
    expect(deleted.code).toBe(1);
    expect(deleted.error().code).toBe("ACTIVE_MEMBERS");
    const killed = await teams(["kill", "stubborn", "--force", "--json"]);
    expect(killed.code).toBe(0);
    expect(killed.json()).toMatchObject({ kills: [{ name: "stubborn", outcome: "killed", left: [] }] });
    expect((await teams(["status", "--json"])).json<Status>().members).toHaveLength(1);
  });
});

describe("attach", () => {
  it("prints the exact command if it cannot switch a terminal (S15)", async () => {
    const { tmux, teams } = await team();
    await teams(["spawn", "dev", ...SPAWN]);
    const attach = await teams(["attach", "dev", "--json"]);
    const { command } = attach.json<{ command: string[] }>();
    expect(command.slice(0, 2)).toEqual(["tmux", "-S"]);
    expect(command).toContain("attach-session");
    const session = tmux.tmux("list-sessions", "-F", "#{session_id}");
    expect(command.at(-1)).toMatch(new RegExp(`^\\${session}:@\\d+\\.%\\d+$`));
    expect((await teams(["attach"])).out).toContain(`'${session}:`);
    await teams(["kill", "dev", "--force"]);
    const gone = await teams(["attach", "crew", "--json"]);
    expect(gone.code).toBe(1);
    expect(gone.error().code).toBe("RECIPIENT_INACTIVE");
  });
});

describe("sidebar --split", () => {
  it("opens a pane on the right, and closes it on the second call", async () => {
    const { tmux, teams } = await team();
    const { pane } = tmux.session("mine", { width: 120, height: 30 });
    const panes = (): string[] => tmux.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_width}").split("\n");
    const env = tmux.inside(pane);
    const opened = await teams(["sidebar", "--split", "--json"], { env });
    expect(opened.json()).toMatchObject({ open: true });
    expect(panes()).toHaveLength(2);
    const { paneId } = opened.json<{ paneId: string }>();
    await eventually("the drawn sidebar", () =>
      tmux.tmux("capture-pane", "-p", "-t", paneId).includes("crew"),
    );
    expect((await teams(["sidebar", "--split", "--json"], { env })).json()).toMatchObject({ open: false });
    expect(panes()).toEqual([`${pane} 120`]);
  });

  it("has the caller's locale and time zone, not those of the tmux server", async () => {
    const { tmux, teams } = await team();
    const { pane } = tmux.session("mine", { width: 120, height: 30 });
    tmux.tmux("set-environment", "-g", "LC_ALL", "C.UTF-8");
    await teams(["spawn", "dev", ...SPAWN, "--teammate-mode", "process"]);
    await teams(["send", "team-lead", "Are you there?", "--as", "dev"]);
    const { messages } = (await teams(["inbox", "--all", "--json"])).json<{
      messages: { text: string; timestamp: string }[];
    }>();
    const sent = messages.find(({ text }) => text === "Are you there?")?.timestamp ?? "";
    // Japan has no daylight saving time.
    const inTokyo = new Date(Date.parse(sent) + 9 * 3_600_000).toISOString().slice(11, 16);
    const env = { ...tmux.inside(pane), LANG: "C", TZ: "Asia/Tokyo" };
    const opened = await teams(["sidebar", "--split", "--json"], { env });
    const { paneId } = opened.json<{ paneId: string }>();
    const shown = await eventually("the message", () => {
      const screen = tmux.tmux("capture-pane", "-p", "-t", paneId);
      return screen.includes("Are you there?") && screen;
    });
    expect(shown).toMatch(/^[\x00-\x7f]*$/);
    expect(shown).toContain(inTokyo);
    await teams(["kill", "crew", "--force"]);
  });

  it("is refused outside tmux, as is a sidebar without a terminal", async () => {
    const { teams } = await team();
    expect((await teams(["sidebar", "--split"])).code).toBe(2);
    expect((await teams(["sidebar"])).err).toContain("status --watch");
  });
});

describe("a permission request", () => {
  it("shows in approvals, status and wait, and is answered by approve (S61)", async () => {
    const { teams } = await team();
    await teams(["spawn", "dev", "--model", "scripted:play.json", "--prompt", "hello"]);
    const asked = await eventually("the request", async () => {
      const { approvals } = (await teams(["approvals", "--json"])).json<Status>();
      return approvals[0];
    });
    expect(asked).toMatchObject({ kind: "permission", from: "dev" });
    expect((await teams(["status"])).out).toContain("teams approve dev");
    const whole = (await teams(["approvals", asked.id])).out;
    expect(whole).toMatch(/^permission of dev: Bash\(/);
    expect(whole).toContain(`Answer with: teams approve ${asked.id}   or: teams reject ${asked.id}`);
    expect(whole).toContain("No rule allows");
    expect(whole).toContain('\n  {\n    "command": ');
    expect((await teams(["approvals", "perm-none"])).code).toBe(3);
    const waited = await teams(["wait", "dev", "--timeout", "0.2"]);
    expect(waited.code).toBe(5);
    expect(waited.err).toContain("dev is waiting for you: teams approvals");
    expect((await teams(["approve", asked.id])).out).toBe("Approved: permission of dev.\n");
    const again = await teams(["reject", asked.id, "--json"]);
    expect([3, 4]).toContain(again.code);
    expect((await teams(["wait", "dev", "--timeout", "180"])).code).toBe(0);
    expect((await teams(["peek", "dev"])).out).toContain("from-the-shell");
    expect((await teams(["approvals"])).out).toBe("Nothing is waiting for you.\n");
  });
});

describe("a killed agent", () => {
  it("is shown as crashed with its signal, ends a wait with exit 1, and can be removed (S33)", async () => {
    const { teams } = await team();
    const spawned = (await teams(["spawn", "dev", ...SPAWN, "--json"])).json<{ pid: number }>();
    await teams(["task", "add", "never done"]);
    const waiting = teams(["wait", "--tasks", "dev", "--timeout", "180", "--json"]);
    process.kill(spawned.pid, "SIGKILL");
    const crashed = await eventually("the crash", async () => {
      const { members } = (await teams(["status", "--json"])).json<Status>();
      // The pane records the signal after the agent's end.
      return members.find(({ name, exit }) => name === "dev" && exit?.signal === "SIGKILL");
    });
    expect(crashed).toMatchObject({ alive: false, state: "crashed" });
    const ended = await waiting;
    expect(ended.code).toBe(1);
    expect(ended.error().message).toMatch(/^dev crashed(?: \(SIGKILL\))?, so/);
    const sent = await teams(["send", "dev", "still there?", "--json"]);
    expect(sent.json()).toMatchObject({ queuedForRestart: true });
    expect((await teams(["kill", "dev"])).out).toContain("dev had already ended");
  });
});

describe("a crash request", () => {
  it("restarts the agent when approved, and removes it when rejected (S33)", async () => {
    const { teams } = await team();
    const pidOf = async () =>
      (await teams(["status", "--json"])).json<Status>().members.find(({ name }) => name === "dev")?.pid;
    const crashed = async () => {
      const pid = await eventually("dev's process", pidOf);
      process.kill(pid, "SIGKILL");
      return eventually("the crash", async () => {
        const { approvals } = (await teams(["approvals", "--json"])).json<Status>();
        // The launch script records the cause a moment after the end.
        return approvals.find(({ summary }) => summary.includes("SIGKILL"));
      });
    };
    await teams(["spawn", "dev", ...SPAWN]);
    const first = await crashed();
    expect(first).toMatchObject({ kind: "crash", from: "dev", summary: expect.stringContaining("SIGKILL") });
    expect((await teams(["status", "--json"])).json<Status>().approvals).toEqual([first]);
    expect((await teams(["approvals"])).out).toContain(
      `teams approve ${first.id}   or remove it: teams reject`,
    );
    const model = await teams(["approve", first.id, "--json"], { env: { TEAMS_AGENT: "team-lead@crew" } });
    expect(model.error().code).toBe("PERMISSION_DENIED");
    expect((await teams(["approve", first.id])).out).toContain("dev was restarted.");
    expect((await teams(["approvals"])).out).toBe("Nothing is waiting for you.\n");
    const late = await teams(["reject", first.id, "--json"]);
    expect([late.code, late.error().code]).toEqual([4, "ALREADY_ANSWERED"]);
    const second = await crashed();
    expect(second.id).not.toBe(first.id);
    expect((await teams(["reject", second.id])).out).toContain("dev was removed from the team.");
    const { members, approvals } = (await teams(["status", "--json"])).json<Status>();
    expect([members.some(({ name }) => name === "dev"), approvals]).toEqual([false, []]);
  });
});

describe("a teammate's process", () => {
  it("is unique: a second start, or a start in another agent's shell, is refused (S14)", async () => {
    const { teams } = await team();
    await teams(["spawn", "dev", "--prompt", "wait", "--teammate-mode", "process"]);
    const flags =
      "--agent-id dev@crew --agent-name dev --team-name crew --parent-session-id s --agent-type x";
    const before = (await teams(["status", "--json"])).json<Status>();
    const second = await teams(["agent", ...flags.split(" "), "--dangerously-skip-permissions"]);
    expect([second.code, second.err]).toEqual([
      4,
      expect.stringMatching(/dev is already running.*DUPLICATE_NAME/s),
    ]);
    const other = await teams(["agent", ...flags.split(" ")], { env: { TEAMS_AGENT: "rev@crew" } });
    expect([other.code, other.err]).toEqual([1, expect.stringContaining("NESTED_TEAM")]);
    const pidOf = ({ members }: Status) => members.find(({ name }) => name === "dev")?.pid;
    expect(pidOf((await teams(["status", "--json"])).json<Status>())).toBe(pidOf(before));
    // The hint names the team only if another team has a member of that name.
    expect(second.err).toMatch(/teams send dev "/);
    await teams(["create", "other"]);
    await teams(["spawn", "dev", "--team", "other", "--teammate-mode", "process"]);
    expect((await teams(["agent", ...flags.split(" ")])).err).toContain("teams send dev@crew");
  });
});

describe("an impossible spawn", () => {
  it("is refused with its code, and leaves the team unchanged (S13)", async () => {
    const { tmux, teams } = await team();
    for (const [words, code, exit] of [
      [["spawn", "team-lead"], "INVALID_NAME", 2],
      [["spawn", "a@b"], "INVALID_NAME", 2],
      [["spawn", "dev", "--cwd", "missing"], "INVALID_INPUT", 2],
      [["spawn", "dev", "--model", "no such model"], "INVALID_MODEL", 2],
      [["spawn", "dev", "--agent-type", "no-such-type"], "INVALID_TYPE", 2],
      [["spawn", "dev", "--here", "--session"], "INVALID_INPUT", 2],
      [["spawn", "dev", "--teammate-mode", "in-process"], "INVALID_INPUT", 2],
    ] as const) {
      const ended = await teams([...words, "--json"]);
      expect([ended.code, ended.error().code], words.join(" ")).toEqual([exit, code]);
    }
    const nested = await teams(["spawn", "x", "--json"], { env: { TEAMS_AGENT: "dev@crew" } });
    expect(nested.error().code).toBe("NESTED_TEAM");
    const noTmux = await teams(["spawn", "dev", "--teammate-mode", "tmux", "--json"], {
      env: { PATH: tmux.home },
    });
    expect([noTmux.code, noTmux.error().code]).toEqual([6, "TMUX_NOT_FOUND"]);
    expect((await teams(["status", "--json"])).json<Status>().members).toHaveLength(1);
  });
});
