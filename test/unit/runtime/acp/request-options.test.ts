import { describe, expect, it } from "vitest";
import type { ApprovalDetails } from "../../../../src/operations/approvals/approvals.ts";
import { optionsOf } from "../../../../src/runtime/acp/request-options.ts";

const request = (kind: ApprovalDetails["kind"], more: Partial<ApprovalDetails> = {}) =>
  optionsOf({ id: "r1", kind, from: "ada", summary: "it", at: 0, ...more });

describe("optionsOf", () => {
  it("offers “always” only if a rule can allow the call", () => {
    expect(request("permission").map(({ kind }) => kind)).toEqual(["allow_once", "reject_once"]);
    const [, always] = request("permission", { always: ["Bash(npm test:*)"] });
    expect(always).toMatchObject({
      kind: "allow_always",
      name: "Always allow Bash(npm test:*) until ada ends",
      answer: { approve: true, always: { rules: ["Bash(npm test:*)"], destination: "session" } },
    });
  });

  it("offers to approve a plan with or without its edits", () => {
    expect(request("plan").map(({ answer }) => answer)).toEqual([
      { approve: true },
      { approve: true, mode: "acceptEdits" },
      { approve: false },
    ]);
  });

  it("offers to restart or to remove a teammate that crashed", () => {
    const named = request("crash").map(({ name, answer }) => [name, answer.approve]);
    expect(named).toEqual([
      ["Restart it", true],
      ["Remove it", false],
    ]);
  });

  it("offers the choices of a question, its default, or yes and no", () => {
    const names = (more: Partial<ApprovalDetails>) => request("question", more).map(({ name }) => name);
    expect(names({ choices: ["8080", "9090"] })).toEqual(["8080", "9090"]);
    expect(names({ default: "8080" })).toEqual(["8080", "No"]);
    expect(names({})).toEqual(["Yes", "No"]);
    expect(request("question", { choices: ["8080"] })[0]?.answer).toEqual({ approve: true, note: "8080" });
  });
});
