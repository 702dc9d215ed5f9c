import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { markedProcesses } from "../../support/assertions/leftovers.ts";
import { startTeams, TEAMS } from "../../support/processes/built-program.ts";
import { countForks } from "../../support/processes/count-forks.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { personOutside } from "../../support/tmux/terminal-user.ts";
import { watchedPane } from "../../support/tmux/watched-pane.ts";

it("peek -f › draws in place, fits the terminal, and restores it on Ctrl-C", async () => {
  const t = privateTmux();
  const watched = await watchedPane(t);
  const person = personOutside(t, ["peek", "ada", "-f"], { size: { width: 40, height: 10 } });
  await person.sees(/ready[\s\S]*ada · Ctrl-C stops watching/);
  watched.does(`seq 30; printf '検査%.0s' 1 2 3 4 5 6 7 8 9 10 11 12; echo; seq -s '' 30; echo short`);
  // Nine rows fit above the footer; long rows are cut by their width in cells.
  const screen = await person.sees(/^short$/m);
  expect(screen.trimEnd().split("\n").slice(-10)).toEqual([
    ...["25", "26", "27", "28", "29", "30"],
    `${"検査".repeat(9)}検…`,
    "123456789101112131415161718192021222324…",
    ...["short", "ada · Ctrl-C stops watching"],
  ]);
  watched.does("clear; echo cleared");
  await person.sees(/^cleared$/m);
  person.type("C-c");
  expect(await person.code()).toBe(130);
  expect(person.screen().trim().replace(/^\^C/, "")).toBe("");
});

it("peek -f › restores the terminal while it is stopped, and continues afterwards", async () => {
  const t = privateTmux();
  const watched = await watchedPane(t);
  const person = personOutside(t, ["peek", "ada", "-f"]);
  await person.sees("Ctrl-C stops watching");
  const peeking = peekOf(t);
  signalProcess(peeking, "SIGTSTP");
  await eventually("the restored terminal", () => person.screen().trim() === "");
  watched.does("echo meanwhile");
  // The process may not have stopped yet; it continues in either order.
  await eventually("peek to continue", () => {
    signalProcess(peeking, "SIGCONT");
    return person.screen().includes("meanwhile");
  });
  person.type("C-c");
  expect(await person.code()).toBe(130);
  expect(person.screen().trim().replace(/^\^C/, "")).toBe("");
});

it("peek -f › ends with the agent, and prints how it ended below the earlier output", async () => {
  const t = privateTmux();
  const watched = await watchedPane(t);
  const person = personOutside(t, ["peek", "ada", "-f"]);
  await person.sees("ready");
  watched.does("echo the last words");
  await person.sees("the last words");
  t.tmux("kill-pane", "-t", watched.pane);
  expect(await person.code()).toBe(0);
  expect(person.screen().trim()).toBe("ready\nthe last words\nada has ended.");
});

it("peek -f › appends rows on a dumb terminal", async () => {
  const t = privateTmux();
  const watched = await watchedPane(t);
  const person = personOutside(t, ["peek", "ada", "-f"], { env: { TERM: "dumb" } });
  await person.sees("ready");
  watched.does("echo one");
  await person.sees(/^ready\none$/m);
  person.type("C-c");
  expect(await person.code()).toBe(130);
  expect(person.screen()).toContain("ready\none\n");
});

it("peek -f › forks at most once a second, and ends when its reader closes the pipe", async () => {
  const t = privateTmux();
  const watched = await watchedPane(t);
  const forks = countForks(t);
  const began = performance.now();
  const { child, ended } = startTeams(["peek", "ada", "-f"], { ...t.env, ...forks.env }, t.home);
  let out = "";
  child.stdout?.on("data", (chunk: Buffer) => (out += chunk.toString()));
  for (const word of ["one", "two"]) {
    watched.does(`echo ${word}`);
    await eventually(word, () => out.includes(word));
  }
  child.stdout?.destroy();
  watched.does("echo three");
  expect(await ended).toBe(130);
  const maximum = Math.ceil((performance.now() - began) / 1000);
  expect(pollsOf(forks).length).toBeLessThanOrEqual(maximum);
  expect(pollsOf(forks).length).toBe(forks.all(/peek/));
  expect(isUntouched(t, watched.pane)).toBe(true);
});

function pollsOf(forks: ReturnType<typeof countForks>): string[] {
  return forks.tmux(/peek/);
}

function isUntouched(t: PrivateTmux, pane: string): boolean {
  return t.tmux("display-message", "-p", "-t", pane, "#{pane_pipe}#{pane_in_mode}") === "00";
}

/** Returns the pid of the `teams peek` that this test has started. */
function peekOf(t: PrivateTmux): number {
  const args = (pid: number) => execFileSync("ps", ["-wwo", "args=", "-p", `${pid}`], { encoding: "utf8" });
  const found = markedProcesses(t).find(({ pid }) =>
    args(pid).startsWith(`${process.execPath} ${TEAMS} peek`),
  );
  if (found === undefined) throw new Error("teams peek is not running");
  return found.pid;
}
