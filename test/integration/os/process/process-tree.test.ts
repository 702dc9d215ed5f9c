import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { processBackend } from "../../../../src/backend/process-backend.ts";
import { callersServer } from "../../../../src/backend/tmux/server-for.ts";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import { startTimeOf } from "../../../../src/os/process/identity.ts";
import { hasEnvEntry, type ProcessRow, processTable } from "../../../../src/os/process/process-table.ts";
import { endCommand, endTree, POLL_MS } from "../../../../src/os/process/process-tree.ts";
import { AGENTS, end, placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { touchedPaths } from "../../../support/files/touched-paths.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { expireAfter } from "../../../support/timing/held-timer.ts";
import { type PrivateTmux, privateTmux } from "../../../support/tmux/private-tmux.ts";

test.each(["tmux pane", "child process"])(
  "endTree › ends all descendants of an agent in a %s: deaf, orphaned, renamed or in another session (S40)",
  async (kind) => {
    const t = privateTmux();
    const { pane } = t.session();
    const backend =
      kind === "tmux pane" ? tmuxPaneBackend({ server: t.server, env: t.inside(pane) }) : processBackend();
    const plain = requestFor(t, "one");
    const request = { ...plain, argv: [`${AGENTS}scatters.sh`, plain.paths.status, plain.paths.ready] };
    const [place] = placesOf(await backend.spawn([request], { kind: "team-window", callerPane: pane }));
    if (place === undefined) throw new Error("no place");
    const marked = () =>
      processTable().filter((row) => hasEnvEntry(row.pid, `TEAMS_INSTANCE=${request.instance}`));
    await eventually("the descendants", () => marked().length >= 9);
    const others = bystanders(t);
    expect(await endTree({ root: rootOf(place), marker: place.instance }, { graceMs: 300 })).toEqual({
      left: [],
    });
    expect(marked()).toEqual([]);
    expect(bystanders(t)).toEqual(others);
  },
);

test("endTree › does not wait for the grace period if the process ends earlier", async () => {
  const t = privateTmux();
  const [place] = placesOf(await processBackend().spawn([requestFor(t, "one")], { kind: "session" }));
  if (place === undefined) throw new Error("no place");
  // Longer than the time limit of a test.
  const graceMs = 600_000;
  expect(await endTree({ root: rootOf(place), marker: place.instance }, { graceMs })).toEqual({ left: [] });
});

test.runIf(process.platform === "linux")(
  "endTree › lists the processes of the system as often for eight trees as for one",
  async () => {
    const roots = Array.from({ length: 8 }, () => {
      return spawn("sh", ["-c", "trap '' TERM; echo ready; read line"], {
        stdio: ["pipe", "pipe", "ignore"],
      });
    });
    onTestFinished(() => {
      for (const child of roots) child.kill("SIGKILL");
    });
    await Promise.all(roots.map(({ stdout }) => once(stdout, "data")));
    const trees = roots.map(({ pid = 0 }, index) => {
      return { root: { pid, procStart: startTimeOf(pid) ?? "" }, marker: `none-${index}` };
    });
    const exits = Promise.all(roots.map((root) => once(root, "exit")));
    let pauses = 0;
    const allEnd = () => {
      pauses += 1;
      for (const { stdin } of roots) stdin.end();
      return exits;
    };
    let ended: readonly unknown[] = [];
    const touched = await touchedPaths(async () => {
      const ending = () => Promise.all(trees.map((tree) => endTree(tree, { graceMs: 600_000 })));
      ended = await expireAfter(POLL_MS, allEnd, ending);
    });
    expect(ended).toEqual(trees.map(() => ({ left: [] })));
    // Each scan reads the environment of any other process once, for any number of trees.
    const scans = touched.filter((path) => path === "/proc").length;
    expect(touched.filter((path) => path === `/proc/${process.ppid}/environ`)).toHaveLength(scans);
    // One scan to signal, one after the pause, and one before SIGKILL.
    expect([scans, pauses]).toEqual([3, 1]);
  },
);

test("endTree › gives each of several trees its own grace and its own result", async () => {
  const deaf = spawn("sh", ["-c", "trap '' TERM; echo ready; while :; do sleep 600; done"], {
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  // Ends only when its input ends, which is after the end of `deaf`, whose grace is shorter.
  const slow = spawn("sh", ["-c", "trap 'read line; exit 7' TERM; echo ready; while :; do sleep 0.1; done"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(() => void slow.kill("SIGKILL"));
  const exit = once(slow, "exit");
  await Promise.all([deaf, slow].map(({ stdout }) => once(stdout, "data")));
  const tree = ({ pid = 0 }: ChildProcess) => {
    return { root: { pid, procStart: startTimeOf(pid) ?? "" }, marker: "none" };
  };
  const ending = endTree(tree(slow), { graceMs: 600_000 });
  expect(await endTree(tree(deaf), { graceMs: 300 })).toEqual({ left: [] });
  expect([deaf, slow].map(({ pid = 0 }) => startTimeOf(pid) !== undefined)).toEqual([false, true]);
  slow.stdin.end();
  expect(await ending).toEqual({ left: [] });
  expect(await exit).toEqual([7, null]);
});

test("endTree › lets a process clean up with other programs during its grace", async () => {
  const cleaned = join(temporaryDirectory(), "cleaned");
  // A shell loses a signal that comes between the fork and the exec of its child, so the child says when it is ready.
  const script = `trap 'sleep 0.2 && touch "$0"; exit' TERM; sh -c 'echo ready; exec sleep 600' & wait`;
  const child = spawn("sh", ["-c", script, cleaned], { stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  const root = { pid: child.pid ?? 0, procStart: startTimeOf(child.pid ?? 0) ?? "" };
  expect(await endTree({ root, marker: "none" }, { graceMs: 600_000 })).toEqual({ left: [] });
  expect(existsSync(cleaned)).toBe(true);
});

test("tmux server › started by our commands gives no marker to the user's panes (tmux-findings 6)", async () => {
  const t = privateTmux();
  const mark = "TEAMS_INSTANCE=00000000-0000-4000-8000-000000000000";
  const [name = "", value] = mark.split("=");
  const env = { ...t.env, [name]: value, TEAMS_AGENT: "ada", CLAUDECODE: "1" };
  const backend = tmuxPaneBackend({ server: callersServer(env), env });
  const [place] = placesOf(await backend.spawn([requestFor(t, "one")], { kind: "team-window" }));
  if (place === undefined) throw new Error("no place");
  const { pane } = t.session();
  const [cat = 0, server = 0] = t
    .tmux("display-message", "-p", "-t", pane, "#{pane_pid} #{pid}")
    .split(" ")
    .map(Number);
  expect([cat, server].filter((pid) => hasEnvEntry(pid, mark))).toEqual([]);
  expect(t.tmux("show-environment", "-g")).not.toMatch(/TEAMS_INSTANCE|TEAMS_AGENT|CLAUDECODE/);
  const outer = { root: { pid: 0, procStart: "" }, marker: value ?? "" };
  expect(await endTree(outer, { graceMs: 0 })).toEqual({ left: [] });
  expect([cat, server].map((pid) => startTimeOf(pid) !== undefined)).toEqual([true, true]);
  await end(place);
});

test("tmux server › started by an agent keeps its panes although they have the agent's marker (tmux-findings 6)", async () => {
  const t = privateTmux();
  const plain = requestFor(t, "one", { env: { SOCKETS: t.env.TMUX_TMPDIR ?? "" } });
  const command = `TMUX_TMPDIR="$SOCKETS" tmux -L "$TEAMS_TMUX_SOCKET" new-session -d -s user -- env cat; exec "$0" "$@"`;
  const request = { ...plain, argv: ["/bin/sh", "-c", command, ...plain.argv] };
  const [place] = placesOf(await processBackend().spawn([request], { kind: "session" }));
  if (place === undefined) throw new Error("no place");
  const cat = Number(t.tmux("list-panes", "-a", "-F", "#{pane_pid}"));
  expect(hasEnvEntry(cat, `TEAMS_INSTANCE=${request.instance}`)).toBe(true);
  expect(await end(place)).toEqual({ left: [] });
  expect(t.tmux("list-panes", "-a", "-F", "#{pane_pid}")).toBe(String(cat));
});

test("endTree › does not touch a reused pid (S39)", async () => {
  const stranger = spawn("sleep", ["100"], { detached: true, stdio: "ignore" });
  try {
    await once(stranger, "spawn");
    const pid = stranger.pid ?? 0;
    const root = { pid, procStart: "1" };
    expect(await endTree({ root, marker: "00000000-0000-4000-8000-000000000000" }, { graceMs: 50 })).toEqual({
      left: [],
    });
    expect(startTimeOf(pid)).toBeDefined();
  } finally {
    stranger.kill("SIGKILL");
  }
});

test("endCommand › does not touch a group whose number an ended program had (S39)", async () => {
  const stranger = spawn("sleep", ["100"], { detached: true, stdio: "ignore" });
  try {
    await once(stranger, "spawn");
    const ended = { pid: stranger.pid, exitCode: 0, signalCode: null };
    expect(await endCommand(ended, "00000000-0000-4000-8000-000000000000")).toEqual([]);
    expect(startTimeOf(stranger.pid ?? 0)).toBeDefined();
    expect(await endCommand(stranger, "00000000-0000-4000-8000-000000000000")).toEqual([]);
    expect(startTimeOf(stranger.pid ?? 0)).toBeUndefined();
  } finally {
    stranger.kill("SIGKILL");
  }
});

function rootOf(place: { panePid?: number | undefined; paneProcStart?: string | undefined }) {
  return { pid: place.panePid ?? 0, procStart: place.paneProcStart ?? "" };
}

/** Returns the processes of the user's panes on the test's server. */
function bystanders(t: PrivateTmux): ProcessRow[] {
  const pids = t.tmux("list-panes", "-t", "=work", "-F", "#{pane_pid} #{pid}").split(/\s/).map(Number);
  return processTable().filter((row) => pids.includes(row.pid));
}
