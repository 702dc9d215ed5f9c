import { expect, it } from "vitest";
import { withWaitNotices } from "../../../../src/runtime/lead/lead.ts";
import { NO_VIEW } from "../../../support/worker/empty-view.ts";

it("withWaitNotices › reports a note only if it says why a typed line is not the answer", () => {
  const lines: string[] = [];
  const view = withWaitNotices(NO_VIEW, (line) => lines.push(line));
  view.note("before the request");
  view.permission({
    ...{ id: "perm-1@lead", call: "toolu_1", tool: "Bash", summary: "touch made" },
    ...{ reason: "no rule allows it", rules: [], change: [] },
  });
  view.note("there is budget again");
  view.note("not an answer, so kept for later", "typed-line");
  view.permissionClosed();
  view.note("after the request");
  expect(lines).toEqual([
    "The lead asks to run Bash(touch made): teams approve perm-1@lead, or teams reject perm-1@lead",
    "not an answer, so kept for later",
  ]);
});
