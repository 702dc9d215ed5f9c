import { describe, expect, it } from "vitest";
import { addMembers } from "../../../src/team/members/members.ts";
import { prepareRun, writeStatus } from "../../../src/team/records/write-records.ts";
import { codeOf, libraryTeam } from "../../support/library/library-team.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";

/** A team with the idle teammate `ada`, whose process is that of this test, and `ben`, who has crashed. */
async function withTwo() {
  const { team, ref, options } = await libraryTeam();
  await addMembers(ref, [
    { name: "ada", cwd: options.cwd },
    { name: "ben", cwd: options.cwd },
  ]);
  await prepareRun(ref, ["ada", "ben"]);
  writeStatus(ref, "ada", statusOf());
  writeStatus(ref, "ben", statusOf({ state: "running", process: deadProcess() }));
  return { team, ref, ada: team.teammate("ada"), ben: team.teammate("ben") };
}

describe("members in the library", () => {
  it("get a broadcast, and a message, unless they do not run", async () => {
    const { team, ada, ben } = await withTwo();
    expect(await team.broadcast("The build is green.")).toEqual({ recipients: ["ada"], skipped: ["ben"] });
    expect(await ada.send("Look at it.", { summary: "a request" })).toMatchObject({ to: "ada" });
    expect(await ada.inbox({ unread: true })).toMatchObject([
      { from: "team-lead", text: "The build is green.", read: false, protocol: null },
      { from: "team-lead", text: "Look at it.", summary: "a request" },
    ]);
    expect(await ben.inbox()).toEqual([]);
    expect(await codeOf(team.broadcast(" "))).toBe("INVALID_INPUT");
    // An agent reads its inbox itself.
    expect(await codeOf(ada.inbox({ markRead: true }))).toBe("INVALID_INPUT");
  });

  it("are interrupted only in a turn", async () => {
    const { team, ada, ben } = await withTwo();
    expect(await ada.interrupt()).toEqual({ name: "ada", outcome: "idle" });
    expect(await team.interrupt("ada")).toEqual({ name: "ada", outcome: "idle" });
    expect(await codeOf(ben.interrupt())).toBe("RECIPIENT_INACTIVE");
    expect(await codeOf(team.interrupt("nobody"))).toBe("AGENT_NOT_FOUND");
  });

  it("end the wait for an interrupt by its signal, and keep the request", async () => {
    const { ref, ada } = await withTwo();
    writeStatus(ref, "ada", statusOf({ state: "running" }));
    const stop = new AbortController();
    const asked = ada.interrupt({ signal: stop.signal });
    stop.abort("enough");
    expect(await asked.catch((error: unknown) => error)).toMatchObject({
      code: "INTERRUPTED",
      cause: "enough",
    });
    expect(await ada.inbox()).toMatchObject([{ protocol: "interrupt_request" }]);
  });

  it("get modes and limits of their own", async () => {
    const { team, ada } = await withTwo();
    expect(await ada.setMode("acceptEdits")).toMatchObject({ name: "ada", mode: "acceptEdits" });
    expect(await ada.setBudget({ maxTokens: 5 })).toMatchObject({ name: "ada", limits: { maxTokens: 5 } });
    expect((await team.status()).members).toContainEqual(
      expect.objectContaining({ name: "ada", mode: "acceptEdits", budget: { maxTokens: 5 } }),
    );
  });
});
