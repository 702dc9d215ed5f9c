import { describe, expect, it } from "vitest";
import { reconcile } from "../../../src/lead/reconcile.ts";
import { spawnTeammates } from "../../../src/lead/spawn.ts";
import type { SpawnInput } from "../../../src/lead/spawn-draft.ts";
import { signalProcess } from "../../../src/os/process-table.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { Turn } from "../../../src/schema/playbook.ts";
import { history } from "../../../src/team/mailbox.ts";
import { readExit, readPlace, readStatus } from "../../../src/team/records.ts";
import { claimTask } from "../../../src/team/task-flow.ts";
import { createTask, getTask } from "../../../src/team/tasks.ts";
import { eventually } from "../../support/eventually.ts";
import { ledTeam } from "../../support/led-team.ts";

/** A team that is led by this test, its teammates in panes of a detached session. */
async function inPanes(agents: Readonly<Record<string, readonly Turn[]>>, ...inputs: readonly SpawnInput[]) {
  const { ref, ctx, place } = await ledTeam(agents);
  const behind: Promise<unknown>[] = [];
  await spawnTeammates(ctx, inputs, { mode: "tmux", background: (work) => behind.push(work) });
  await Promise.all(behind);
  const paneOf = (name: string): string => readPlace(ref, name)?.paneId ?? "";
  const screen = (name: string): string => place.tmux("capture-pane", "-p", "-t", paneOf(name));
  return {
    ref,
    ctx,
    t: place,
    paneOf,
    screen,
    pidOf: (name: string): number => readStatus(ref, name)?.process.pid ?? 0,
    /** Ends its process, and waits until its pane waits for a person. */
    crash: async (name: string, signal: NodeJS.Signals) => {
      const { pid } = readStatus(ref, name)?.process ?? { pid: 0 };
      signalProcess(pid, signal);
      await eventually("the record", () => readExit(ref, name)?.signal === signal);
      await eventually("what to press", () => screen(name).includes("q + Enter closes this pane"));
    },
    /** What a person types there. */
    again: async (name: string) => {
      const before = readStatus(ref, name)?.process.pid;
      place.tmux("send-keys", "-t", paneOf(name), "r", "Enter");
      await eventually("another start", () => readStatus(ref, name)?.process.pid !== before);
      await eventually("its idleness", () => readStatus(ref, name)?.state === "idle");
    },
    told: async (): Promise<string[]> =>
      (await history(ref, LEAD_NAME, { all: true })).flatMap(({ from, text }) =>
        from === "system" ? [JSON.parse(text).message.split("\n")[0]] : [],
      ),
  };
}

describe("a crashed agent that a person started again in its pane", () => {
  it("before anybody had looked is told to the lead, and goes on with what it had", async () => {
    const { ref, ctx, crash, again, told } = await inPanes({}, { name: "dev" });
    await createTask(ref, { subject: "count" });
    await claimTask(ref, "dev", "1");
    await crash("dev", "SIGSEGV");
    await again("dev");
    const three = [{ ...ctx }, { ...ctx }, { ...ctx }];
    const ends = (await Promise.all(three.map((own) => reconcile(own)))).flat();
    expect(ends).toMatchObject([{ name: "dev", how: "restarted", exit: { signal: "SIGSEGV" } }]);
    expect(await told()).toEqual(["dev crashed (SIGSEGV) and was started again in its pane."]);
    expect(getTask(ref, "1")).toMatchObject({ owner: "dev", status: "in_progress" });

    await crash("dev", "SIGABRT");
    expect(await reconcile(ctx)).toMatchObject([{ how: "crashed", exit: { signal: "SIGABRT" } }]);
    expect(getTask(ref, "1")).toMatchObject({ status: "pending" });
    await again("dev");
    expect(await reconcile(ctx)).toEqual([]);
    expect(await told()).toHaveLength(2);
  });
});
