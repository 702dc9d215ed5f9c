import { expect, it } from "vitest";
import { TeamError } from "../../../src/errors.ts";
import { killTeammates } from "../../../src/operations/ending/kill.ts";
import { shutdownTeammates } from "../../../src/operations/ending/shutdown.ts";
import { interruptAgent } from "../../../src/operations/interrupt.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { listTasks } from "../../../src/team/tasks/tasks.ts";
import { addTask } from "../../../src/team/tasks/update-task.ts";
import { seeded } from "../../support/random/seeded-random.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { PLACES, supervisedTeam } from "../../support/team/supervised-team.ts";
import { eventually } from "../../support/timing/eventually.ts";

const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"].map((letter) => `agent-${letter}`);
const TASKS = Array.from({ length: 24 }, (_, i) => String(i + 1));
/** The number of first rounds in which a random member is disturbed; later rounds run undisturbed. */
const DISTURBED = 8;
const SEED = 20_261_122;

/** Claims and completes the task that a message asks for. */
const work = (id: string): PlaybookTurn => ({
  on: { contains: `please do ${id}.` },
  delayMs: 10 * (Number(id) % 5),
  tools: ["in_progress", "completed"].map((status) => ({
    name: "TaskUpdate",
    input: { taskId: id, status },
  })),
  repeat: true,
});

/** Agrees even if the request arrives together with other messages. */
const agree: PlaybookTurn = {
  on: { contains: "shutdown" },
  tools: [
    {
      name: "SendMessage",
      input: { type: "shutdown_response", request_id: "{{request_id}}", approve: true },
    },
  ],
  repeat: true,
};

it.each(PLACES)(
  "eight teammates in %s › complete every task once despite random interruptions",
  async (place) => {
    const random = seeded(SEED);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const team = await supervisedTeam(place, { "*": [agree, ...TASKS.map(work)] });
    const { ref, ctx } = team;
    for (const id of TASKS) await addTask(ref, LEAD_NAME, { subject: `task ${id}`, description: "" });
    await team.spawn(...NAMES);
    const open = () => listTasks(ref).filter(({ status }) => status !== "completed");
    const isTeamAtRest = () => NAMES.every((name) => isAtRest(ref, name));

    const disturb = async (name: string): Promise<void> => {
      const how = pick(["killed", "shut down", "interrupted"] as const);
      if (how === "interrupted") return void (await interruptAgent(ctx, name).catch(unlessLate));
      if (how === "killed") await killTeammates(ctx, [name], { force: true });
      else await shutdownTeammates(ctx, [name], { timeoutMs: 180_000 });
      await team.spawn(name);
    };
    for (let round = 0; open().length > 0; round += 1) {
      const left = open();
      // Some requests name tasks that are completed already.
      const wanted = [...Array.from({ length: 4 }, () => pick(left).id), pick(TASKS), pick(TASKS)];
      for (const id of wanted) await team.send(pick(NAMES), `please do ${id}.`);
      await sendMessage(ref, {
        from: pick(NAMES),
        to: pick(NAMES),
        text: `round ${round}: how is it going?`,
      });
      if (round < DISTURBED) await disturb(pick(NAMES));
      await eventually("progress", () => open().length < left.length || isTeamAtRest());
    }
    await eventually("the idle team", isTeamAtRest);
    const completions = (await team.inbox()).filter((text) => text.includes('"task_completed"'));
    const ids = completions.map((text) => /"taskId":"(\d+)"/.exec(text)?.[1] ?? text);
    expect(ids.toSorted()).toEqual(TASKS.toSorted());
  },
);

/** Ignores a timeout of an interrupt: the turn may have ended at the same moment. */
function unlessLate(error: unknown): void {
  if (!(error instanceof TeamError && error.code === "TIMEOUT")) throw error;
}
