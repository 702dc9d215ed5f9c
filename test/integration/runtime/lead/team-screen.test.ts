import { expect, test } from "vitest";
import type { InProcessBackend } from "../../../../src/backend/in-process/in-process-backend.ts";
import { createLeadScreen } from "../../../../src/runtime/lead/team-screen.ts";
import { testTeam } from "../../../support/team/test-team.ts";

test("createLeadScreen › keeps a line for a teammate that does not run yet", async () => {
  const seen: string[] = [];
  const dev = {
    ...{ name: "dev", color: "blue", state: "pending", output: { lines: () => [] } },
    input: undefined as { typed(line: string): Promise<void> } | undefined,
  };
  const screen = createLeadScreen({
    ref: await testTeam(["dev"]),
    inProcess: { agents: () => [dev] } as unknown as InProcessBackend,
    out: () => undefined,
    size: () => ({ width: 40, height: 12 }),
    plain: true,
  });
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
