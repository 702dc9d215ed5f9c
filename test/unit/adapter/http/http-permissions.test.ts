import { expect, it } from "vitest";
import type { ChannelDialog } from "../../../../src/adapter/channel.ts";
import { HttpPermissions } from "../../../../src/adapter/http/http-permissions.ts";

it("HttpPermissions › shows a question of OpenCode's screen until it is answered, or its turn has ended", () => {
  const dialogs: (ChannelDialog | undefined)[] = [];
  const events = {
    ask: async () => ({ allowed: false }),
    question: async () => undefined,
    blocked: (dialog: ChannelDialog | undefined) => void dialogs.push(dialog),
    note: () => undefined,
  };
  const permissions = new HttpPermissions({ request: async () => undefined }, "s", "/repo", events);
  const question = { name: "its model has a question", remedy: "answer it in its pane" };
  for (const id of ["one", "two"]) {
    permissions.event("question.asked", { sessionID: "s", id, questions: [] });
    expect(dialogs).toEqual([question]);
    if (id === "one") permissions.event("question.rejected", { sessionID: "s", requestID: id });
    else permissions.endTurn();
    expect(dialogs.splice(0)).toEqual([question, undefined]);
  }
  permissions.endTurn();
  expect(dialogs).toEqual([]);
});
