import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { PlaybookTurn } from "../../../../src/schema/playbook.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { type RunningWorker, startWorker } from "../../../support/worker/start-worker.ts";

const LONG: PlaybookTurn[] = [{ say: "half of what is", delayMs: 600_000 }];
const COMMAND: PlaybookTurn[] = [{ tools: [{ name: "Bash", input: { command: "sleep 600" } }] }];
const ANSWER: PlaybookTurn[] = [{ say: "the answer" }];

const stateOf = async (ref: TeamRef) => (await history(ref, "dev"))[0]?.state;
const shows = (running: RunningWorker, begin: string): Promise<unknown> =>
  eventually(begin, () => running.shown.some((line) => line.startsWith(begin)));

it.each([
  ["in the middle of the model's answer", LONG, "turn_started"],
  ["in the middle of a tool call", COMMAND, "tool Bash"],
])(
  "interrupted turn › continues in the next process if SIGTERM ended the first one %s",
  async (_where, turns, begun) => {
    const ref = await testTeam(["dev"]);
    await sendMessage(ref, { from: "team-lead", to: "dev", text: "one" });
    const first = await startWorker(ref, { turns });
    await shows(first, begun);
    await eventually("the turn in the journal", async () => (await stateOf(ref)) === "turn_started");
    expect(await first.stop("SIGTERM")).toBe("stopped");
    expect(await stateOf(ref)).toBe("turn_started");
    const transcript = join(ref.home.root, "teams-sessions", "session-dev.jsonl");
    expect(readFileSync(transcript, "utf8")).not.toContain("The turn was interrupted here");

    // The conversation records how far the playbook was played, so the playbook's next turn follows.
    const second = await startWorker(ref, { turns: [...(turns === COMMAND ? COMMAND : []), ...ANSWER] });
    await eventually("the turn's end", async () => (await stateOf(ref)) === "done");
    expect(second.worker.lastText).toBe("the answer");
    expect(second.inputs).toHaveLength(1);
    await second.stop("SIGTERM");
  },
);

it("interrupted turn › is over if the user ended the process with Ctrl-C", async () => {
  const ref = await testTeam(["dev"]);
  await sendMessage(ref, { from: "team-lead", to: "dev", text: "one" });
  const first = await startWorker(ref, { turns: LONG });
  await shows(first, "turn_started");
  expect(await first.stop("SIGINT")).toBe("stopped");
  expect(await stateOf(ref)).toBe("done");
});
