import { describe, expect, it, vi } from "vitest";
import { ApprovalsView, type ViewActions } from "../../../../src/cli/approvals/approvals-view.ts";
import { viewPainter } from "../../../../src/cli/approvals/view-picture.ts";
import { TeamError } from "../../../../src/errors.ts";
import type { ApprovalDetails } from "../../../../src/operations/approvals/approvals.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const request = (id: string, more: Partial<ApprovalDetails> = {}): ApprovalDetails => ({
  ...{ id, kind: "permission", from: "ada", summary: `Bash(${id})`, at: Number(id.slice(1)) },
  ...more,
});

/** A view of these requests, on a screen of this size. */
async function view(requests: ApprovalDetails[], { width = 60, height = 20, ascii = false } = {}) {
  let now = 0;
  const given: unknown[] = [];
  const paint = viewPainter();
  const act: ViewActions = {
    list: async () => requests.map(({ id, at }) => ({ key: id, at })),
    details: async (id) => requests.find((one) => one.id === id),
    answer: async (id, answer) => {
      given.push([id, answer]);
      requests.splice(
        requests.findIndex((one) => one.id === id),
        1,
      );
      return `Answered ${id}.`;
    },
    changed: vi.fn(),
    problem: (error) => {
      throw error;
    },
    quit: vi.fn(),
  };
  const shown = new ApprovalsView(act, undefined, () => now);
  const picture = () => paint(shown, { width, height, plain: true, ascii, team: "crew" });
  const rows = (): readonly string[] => picture().rows;
  await shown.reload();
  rows();
  return {
    ...{ shown, given, act, picture, rows },
    text: () => rows().join("\n"),
    /** Gives the user enough time to read the request. */
    read: () => {
      rows();
      now += 1_000;
    },
    /** Waits for a request, and gives the user enough time to read it. */
    awaitAndRead: (id: string) =>
      eventually(`request ${id}`, () => shown.shown?.details.id === id).then(() => {
        rows();
        now += 1_000;
      }),
  };
}

describe("ApprovalsView", () => {
  it("ignores a key that comes with a new request", async () => {
    const v = await view([request("r1"), request("r2")]);
    v.shown.push("y");
    expect([v.given, v.shown.notice]).toEqual([[], expect.stringContaining("just appeared")]);
    v.read();
    v.shown.push("y");
    await eventually("the next request", () => v.shown.shown?.details.id === "r2");
    v.shown.push("y");
    expect(v.given).toEqual([["r1", { approve: true }]]);
    await v.awaitAndRead("r2");
    v.shown.push("n");
    await eventually("the empty view", () => v.shown.shown === undefined);
    expect(v.given[1]).toEqual(["r2", { approve: false }]);
    expect(v.text()).toContain("Nothing is waiting for you.");
  });

  it("does not take several keys at once, or pasted keys, for an answer", async () => {
    const v = await view([request("r1", { always: ["Bash"] })]);
    v.read();
    for (const keys of ["yy", "yn", "ya", "\u001b[200~y\u001b[201~"]) v.shown.push(keys);
    expect(v.given).toEqual([]);
    v.shown.push("a");
    expect(v.given).toEqual([["r1", { approve: true, always: true }]]);
  });

  it("treats Enter after an answer as part of the answer, in the same read and in the next", async () => {
    const v = await view([request("r1"), request("r2"), request("r3")]);
    v.read();
    v.shown.push("y");
    await v.awaitAndRead("r2");
    v.shown.push("\r");
    expect(v.text()).not.toContain("note ›");
    v.shown.push("n\r");
    await v.awaitAndRead("r3");
    expect(v.text()).not.toContain("note ›");
    v.shown.push("\r");
    expect(v.text()).toContain("note ›");
    expect(v.given).toEqual([
      ["r1", { approve: true }],
      ["r2", { approve: false }],
    ]);
  });

  it("drops the note of an answered request, even if the note was begun while the answer was being sent", async () => {
    const v = await view([request("r1")]);
    v.read();
    v.shown.push("mfine");
    v.shown.push("\r");
    v.shown.push("y");
    v.shown.push("m");
    expect(v.text()).toContain("note ›");
    await eventually("the empty view", () => v.shown.shown === undefined);
    expect(v.given).toEqual([["r1", { approve: true, note: "fine" }]]);
    expect(v.text()).not.toContain("note");
    v.shown.push("q");
    expect(v.act.quit).toHaveBeenCalledWith("key");
  });

  it("keeps the note to another request when a slow answer is sent", async () => {
    const v = await view([request("r1"), request("r2")]);
    const { answer } = v.act;
    let finish = (): void => undefined;
    const slow = new Promise<void>((resolve) => {
      finish = resolve;
    });
    v.act.answer = (...args) => slow.then(() => answer(...args));
    v.read();
    v.shown.push("y");
    v.shown.push("y");
    expect(v.shown.notice).toBe("The answer is being sent.");
    v.shown.push("\t");
    await v.awaitAndRead("r2");
    v.shown.push("n");
    expect(v.shown.notice).toContain("is still being sent");
    // The letters of this note are not keys.
    v.shown.push("mwait");
    finish();
    await eventually("the answer", () => v.text().includes("Answered r1."));
    expect(v.text()).toContain("note › wait");
    expect(v.shown.shown?.details.id).toBe("r2");
    expect(v.given).toEqual([["r1", { approve: true }]]);
  });

  it("shows why an answer failed, and keeps the request and its note", async () => {
    const v = await view([request("r1")]);
    const { answer } = v.act;
    v.act.answer = () =>
      Promise.reject(new TeamError("SPAWN_FAILED", "It was not restarted.", { hint: "Start tmux." }));
    v.read();
    v.shown.push("mfine");
    v.shown.push("\r");
    v.shown.push("y");
    await eventually("the reason", () => v.text().includes("It was not restarted. Start tmux."));
    expect(v.text()).toContain("note: fine");
    v.act.answer = answer;
    await eventually("the answer", () => {
      v.shown.push("y");
      return v.given.length > 0;
    });
    expect(v.given).toEqual([["r1", { approve: true, note: "fine" }]]);
  });

  it("shows a whole command with its hidden characters at every width, in rows that fit the screen", async () => {
    const command = `echo ${"x".repeat(200)} \u202e\u001b[2K; rm -rf ~`;
    const input = { command };
    for (const width of [12, 20, 40, 80]) {
      const v = await view([request("r1", { input, isCut: true })], { width, height: 60, ascii: true });
      const body = v.rows().slice(1).join("").replace(/\s/g, "");
      for (const part of ["\\u202e\\u001b[2K;rm-rf~", "x".repeat(200)]) expect(body).toContain(part);
      expect(v.rows().every((row) => row.length <= width && /^[\x20-\x7e]*$/.test(row))).toBe(true);
    }
  });

  it("counts only rows that were on the screen, in order, and from the start after a resize", async () => {
    const planContent = Array.from({ length: 50 }, (_, i) => `Step ${i + 1}`).join("\n");
    const requests = [request("r1", { kind: "plan", planContent })];
    const v = await view(requests, { height: 10 });
    v.read();
    v.shown.push("G");
    v.read();
    expect(v.shown.unseen).toBeGreaterThan(0);
    v.shown.push("y");
    expect(v.given).toEqual([]);
    v.read();
    for (let i = 0; i < 20 && v.shown.unseen > 0; i += 1) {
      v.shown.push(" ");
      v.read();
    }
    expect(v.text()).toContain("y yes");
    expect(v.text()).toContain("Step 50");
    v.shown.lay("other", 60, 5);
    expect(v.shown.unseen).toBe(55);
  });

  it("writes a note with the text after its key, and sends it with the answer", async () => {
    const v = await view([request("r1")]);
    v.read();
    v.shown.push("muse npm ci");
    expect(v.text()).toContain("note › use npm ci");
    expect(v.picture().cursor).toEqual({ row: 18, column: 17 });
    v.shown.push("\r");
    expect(v.text()).toContain("note: use npm ci");
    v.shown.push("n");
    expect(v.given).toEqual([["r1", { approve: false, note: "use npm ci" }]]);
  });

  it("keeps the tabs and the lines of a pasted note that is continued", async () => {
    const v = await view([request("r1")]);
    v.read();
    for (const keys of ["m", "\u001b[200~a\tb\nc\u001b[201~\r", "m", "!\r", "n"]) v.shown.push(keys);
    expect(v.given).toEqual([["r1", { approve: false, note: "a\tb\nc!" }]]);
  });

  it("keeps a note whose end and answer came in the same read, and gives no answer", async () => {
    const v = await view([request("r1")]);
    v.read();
    v.shown.push("mfine\ry");
    expect(v.text()).toContain("note › fine");
    expect(v.given).toEqual([]);
  });

  it("keeps an answered request on the screen until the user leaves it", async () => {
    const requests = [request("r1"), request("r2"), request("r3")];
    const v = await view(requests);
    v.shown.push("\t");
    await v.awaitAndRead("r2");
    requests.splice(1, 1);
    await v.shown.reload();
    expect(v.text()).toContain("Already answered, or withdrawn.");
    v.shown.push("y");
    expect(v.given).toEqual([]);
    v.shown.push("\t");
    await v.awaitAndRead("r3");
    v.shown.push("h");
    await v.awaitAndRead("r1");
  });

  it("goes back from an answered request to the one before it, also from the newest", async () => {
    const requests = [request("r1"), request("r2"), request("r3")];
    const v = await view(requests);
    v.shown.push("h");
    await v.awaitAndRead("r3");
    requests.pop();
    await v.shown.reload();
    v.shown.push("h");
    await eventually("another request", () => v.shown.shown?.details.id !== "r3");
    expect(v.shown.shown?.details.id).toBe("r2");
  });

  it("answers a question with choices by its default on y", async () => {
    const question = { kind: "question", question: "Port?", choices: ["80", "8080"] } as const;
    const v = await view([request("r1", question)]);
    v.read();
    v.shown.push("y");
    expect(v.given).toEqual([]);
    const w = await view([request("r1", { ...question, default: "80", deadline: 0 })]);
    w.read();
    expect(w.text()).toMatch(/default: 80 \(becomes the answer at .*\n*1-2 choose {2}y default {2}m answer/s);
    w.shown.push("y");
    expect(w.given).toEqual([["r1", { approve: true }]]);
  });
});
