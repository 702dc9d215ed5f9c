import { describe, expect, it } from "vitest";
import type { SessionFact } from "../../../../src/runtime/acp/facts.ts";
import { leadView } from "../../../../src/runtime/acp/member-view.ts";

function shownBy(act: (view: ReturnType<typeof leadView>) => void): readonly SessionFact[] {
  const facts: SessionFact[] = [];
  const ignored = (): void => undefined;
  act(leadView("team-lead", (fact) => void facts.push(fact), { typed: ignored, event: ignored }));
  return facts;
}

describe("leadView", () => {
  it("shows each change of the mode once", () => {
    const facts = shownBy((view) => {
      for (const mode of ["plan", "plan", "default", "plan"] as const) view.mode(mode);
    });
    expect(facts.map((fact) => fact.kind === "mode" && fact.mode)).toEqual(["plan", "default", "plan"]);
  });
});
