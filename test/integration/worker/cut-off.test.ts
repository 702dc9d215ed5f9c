import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { deliver } from "../../../src/team/mailbox/send.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { eventually } from "../../support/eventually.ts";
import { testTeam } from "../../support/team.ts";
import { type RunningWorker, startWorker } from "../../support/worker.ts";

const LONG: PlaybookTurn[] = [{ say: "half of what is", delayMs: 60_000 }];
const COMMAND: PlaybookTurn[] = [{ tools: [{ name: "Bash", input: { command: "sleep 60" } }] }];
const ANSWER: PlaybookTurn[] = [{ say: "the answer" }];

const stateOf = async (ref: TeamRef) => (await history(ref, "dev"))[0]?.state;
const shows = (running: RunningWorker, begin: string): Promise<unknown> =>
  eventually(begin, () => running.shown.some((line) => line.startsWith(begin)));

it.each([
  ["in the middle of the model's answer", LONG, "turn_started"],
  ["in the middle of a tool call", COMMAND, "tool Bash"],
])("a process that is ended by a signal %s leaves its turn to the next one", async (_where, turns, begun) => {
  const ref = await testTeam(["dev"]);
  await deliver(ref, { from: "team-lead", to: "dev", text: "one" });
  const first = await startWorker(ref, { turns });
  await shows(first, begun);
  await eventually("the turn in the journal", async () => (await stateOf(ref)) === "turn_started");
  expect(await first.stop("SIGTERM")).toBe("stopped");
  expect(await stateOf(ref)).toBe("turn_started");
  const transcript = join(ref.home.root, "teams-sessions", "session-dev.jsonl");
  expect(readFileSync(transcript, "utf8")).not.toContain("The turn was interrupted here");

  // What the last one played is known by its conversation: the next turn is played now.
  const second = await startWorker(ref, { turns: [...(turns === COMMAND ? COMMAND : []), ...ANSWER] });
  await eventually("the turn's end", async () => (await stateOf(ref)) === "done");
  expect(second.worker.lastText).toBe("the answer");
  expect(second.inputs).toHaveLength(1);
  await second.stop("SIGTERM");
});

it("a process that a person ends with Ctrl-C leaves no turn behind", async () => {
  const ref = await testTeam(["dev"]);
  await deliver(ref, { from: "team-lead", to: "dev", text: "one" });
  const first = await startWorker(ref, { turns: LONG });
  await shows(first, "turn_started");
  expect(await first.stop("SIGINT")).toBe("stopped");
  expect(await stateOf(ref)).toBe("done");
});
