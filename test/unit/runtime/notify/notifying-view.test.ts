import { expect, test } from "vitest";
import { type Notifier, withNotifications } from "../../../../src/runtime/notify/notifying-view.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { NO_VIEW } from "../../../support/worker/empty-view.ts";

test.each([
  ["ada", "which database?", "ada: which database?"],
  ["ada", "asks: which database?", "ada asks: which database?"],
  ["ada", "ada has used up its budget", "ada has used up its budget"],
  ["team-lead", "ada asks: Bash(make)", "ada asks: Bash(make)"],
])("withNotifications › names %s once for “%s”", async (name, reason, expected) => {
  const notified: string[] = [];
  const notifier: Notifier = { notify: (text) => notified.push(text), close: async () => undefined };
  const view = withNotifications(NO_VIEW, name, async () => notifier);
  view.waiting(reason, "person");
  await eventually("the notification", () => notified.length > 0);
  expect(notified).toEqual([expected]);
});
