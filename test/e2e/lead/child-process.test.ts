import { appendFileSync, existsSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { LOG_BOUNDS } from "../../../src/os/files/capped-log.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { readPlace, readStatus } from "../../../src/team/records/read-records.ts";
import { TEAMS } from "../../support/processes/built-program.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { ledTeam } from "../../support/team/led-team.ts";
import { eventually } from "../../support/timing/eventually.ts";

it("process mode › hides the socketpair and start variables from shell commands", async () => {
  const command = "ls -l /proc/$$/fd > fds; env > variables";
  const { ref, spawn, place } = await ledTeam({ "*": [{ tools: [{ name: "Bash", input: { command } }] }] });
  await spawn({ name: "dev", prompt: "go" });
  const { pid } = readStatus(ref, "dev")?.process ?? { pid: 0 };
  const script = readPlace(ref, "dev")?.panePid ?? 0;
  // The launch script and the agent share the socket.
  const pair = readlinkSync(`/proc/${pid}/fd/3`);
  expect(pair).toMatch(/^socket:/);
  expect(readlinkSync(`/proc/${script}/fd/3`)).toBe(pair);
  await eventually("the command", () => existsSync(join(place.home, "variables")));
  await eventually("the end of dev's turn", () => isAtRest(ref, "dev"));
  expect(readFileSync(join(place.home, "fds"), "utf8")).not.toContain(pair);
  expect(readFileSync(join(place.home, "variables"), "utf8")).not.toContain("TEAMS_BELL_FD");
});

it("process mode › keeps an agent running after Ctrl-C and the end of its terminal", async () => {
  const { ref, place } = await ledTeam();
  const { session } = place.session("user");
  const words = [
    "spawn",
    "dev",
    "--teammate-mode",
    "process",
    "--model",
    "scripted:play.json",
    "--team",
    "crew",
  ];
  // Without job control every child stays in the foreground process group unless it leaves it.
  const pane = place.tmux(
    ...["new-window", "-d", "-t", `${session}:`, "-P", "-F", "#{pane_id} #{pane_pid}", "-c", place.home],
    ...["--", "env", "-u", "TMUX", "-u", "TMUX_PANE"],
    ...[
      "sh",
      "-c",
      'trap : INT; "$@"; echo started; cat; echo interrupted; cat',
      "sh",
      process.execPath,
      TEAMS,
      ...words,
    ],
  );
  const [id = "", shell = ""] = pane.split(" ");
  await eventually("dev to be ready", () => isAtRest(ref, "dev"));
  const shows = (word: string) =>
    eventually(word, () =>
      place
        .tmux("capture-pane", "-p", "-t", id)
        .split("\n")
        .some((row) => row.endsWith(word)),
    );
  await shows("started");
  place.tmux("send-keys", "-t", id, "C-c");
  await shows("interrupted");
  place.tmux("kill-pane", "-t", id);
  await eventually("the shell's end", () => startTimeOf(Number(shell)) === undefined);
  const { pid, procStart } = readStatus(ref, "dev")?.process ?? { pid: 0, procStart: "" };
  expect(startTimeOf(pid)).toBe(procStart);
  expect(readStatus(ref, "dev")?.state).toBe("idle");
  expect(existsSync(ref.paths.agent("dev").exit)).toBe(false);
});

it("process mode › truncates a log that grows too large, and keeps its last lines", async () => {
  const say = `${"It goes on and on. ".repeat(70_000)}And ends.`;
  const { ref, spawn } = await ledTeam({ "*": [{ say }] });
  await spawn({ name: "dev" });
  const { log } = ref.paths.agent("dev");
  appendFileSync(log, "an old line\n".repeat(LOG_BOUNDS.max / 10));
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "Tell me all." });
  await eventually("the truncated log", () => statSync(log).size < LOG_BOUNDS.max);
  await eventually("the end of dev's answer", () => readFileSync(log, "utf8").includes("And ends."));
});
