import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { readPlace, readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { removeStaleFifos } from "../../../src/team/repair/stale-fifos.ts";
import { ring } from "../../../src/wakeup/fifo-bell.ts";
import { watchLifeline } from "../../../src/wakeup/lifeline.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const PLAYBOOK = { version: 1, agents: { dev: [{ say: "I heard {{input}}", repeat: true }] } };

it("a deleted runtime directory › neither ends an agent in a pane nor prevents its restart there (S78)", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const run = teamsIn(t.inside(pane), t.home);
  const teams = async (...words: string[]) => expect([words, (await run(words)).code]).toEqual([words, 0]);
  await teams("create", "crew");
  await teams("spawn", "dev", "--model", "scripted:play.json");
  const ref = teamRef(teamsHome(t.env), "crew");
  const { bell, lifeline } = ref.paths.agent("dev");
  const hears = async (text: string) => {
    await teams("send", "dev", text);
    const isDone = ({ text: sent, state }: { text: string; state: string }) =>
      sent === text && state === "done";
    await eventually(`the end of the turn of ${text}`, async () => (await history(ref, "dev")).some(isDone));
  };
  const deleteRuntime = () => rmSync(join(t.runtime, "teams"), { recursive: true });

  deleteRuntime();
  await hears("first");
  await eventually("the bell", () => ring(bell) === "rung");

  const first = readStatus(ref, "dev")?.process;
  signalProcess(first?.pid ?? 0, "SIGKILL");
  const own = readPlace(ref, "dev")?.paneId ?? "";
  const shown = () => t.tmux("capture-pane", "-p", "-t", own);
  await eventually("the key hint", () => shown().includes("r + Enter starts it again"));
  expect(await removeStaleFifos(ref)).toEqual([]);

  deleteRuntime();
  t.tmux("send-keys", "-t", own, "r", "Enter");
  const again = await eventually("the restart", () => {
    const now = readStatus(ref, "dev")?.process;
    return now?.pid !== first?.pid && now;
  });
  expect(ring(bell)).toBe("rung");
  await hears("second");
  // The launch script holds another lifeline, which no process can reach. On macOS a FIFO does not report its
  // end.
  const watched = process.platform === "linux" ? watchLifeline(lifeline) : undefined;
  signalProcess(again.pid, "SIGKILL");
  await watched?.ended;
  watched?.close();

  await teams("kill", "dev", "--force");
  await teams("delete", "crew");
  await leaves(t, nothing(["work:cat"]));
});
