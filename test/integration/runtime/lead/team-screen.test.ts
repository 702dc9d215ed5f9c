import { expect, test } from "vitest";
import type { InProcessBackend } from "../../../../src/backend/in-process/in-process-backend.ts";
import { createLeadScreen } from "../../../../src/runtime/lead/team-screen.ts";
import { testTeam } from "../../../support/team/test-team.ts";

/** A screen of these teammates. */
async function screenOf(agents: readonly { readonly name: string }[]) {
  return createLeadScreen({
    ref: await testTeam(agents.map(({ name }) => name)),
    inProcess: { agents: () => agents } as unknown as InProcessBackend,
    out: () => undefined,
    size: () => ({ width: 40, height: 12 }),
    plain: true,
  });
}

test("createLeadScreen › keeps a line for a teammate that has not started yet", async () => {
  const seen: string[] = [];
  const dev = {
    ...{ name: "dev", color: "blue", state: "pending", output: { lines: () => [] } },
    input: undefined as { typed(line: string): Promise<void> } | undefined,
  };
  const screen = await screenOf([dev]);
  screen.key("down");
  expect(await screen.line("", 0)).toBe("taken");
  expect(await screen.line("one\ntwo", 0)).toBe("taken");
  expect(screen.editor.edited.text).toBe("one\ntwo");
  dev.input = { typed: async (line) => void seen.push(line) };
  screen.editor.clear();
  await screen.line("one\ntwo", 0);
  expect([seen, screen.editor.edited.text]).toEqual([["one\ntwo"], ""]);
  screen.leave();
});

test("createLeadScreen › keeps the unfinished line of each view until the view is shown again", async () => {
  const agent = (name: string) => ({ name, color: "blue", state: "pending", output: { lines: () => [] } });
  const screen = await screenOf([agent("ann"), agent("bob")]);
  const line = (): string => screen.editor.edited.text;
  const areForLead: boolean[] = [];
  const complete = () => {
    areForLead.push(screen.showsLead);
    return [];
  };
  screen.editor.connect({ complete });
  screen.editor.push("to @lead");
  screen.key("down");
  expect(line()).toBe("");
  await screen.line("", 0);
  screen.editor.push("to ann", 7);
  screen.key("tasks");
  expect(line()).toBe("");
  screen.escape();
  expect(line()).toBe("to ann");
  screen.key("down");
  expect(line()).toBe("");
  screen.key("up");
  expect(line()).toBe("to ann");
  // A key that only scrolls does not move the cursor.
  screen.editor.push("\u001b[D");
  screen.key("page-up");
  expect(screen.editor.edited.cursor).toBe("to an".length);
  expect(screen.editor.push("\r", 9)).toContainEqual({ kind: "line", line: "to ann", begun: 7 });
  screen.leave();
  expect([line(), areForLead.at(-1)]).toEqual(["to @lead", true]);
});
