import { mkdirSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { teammatePane } from "../../support/team/teammate-pane.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

it("a teammate's pane › says that events cannot be written, and its work continues", async () => {
  const t = privateTmux();
  const { teams, dev } = await teammatePane(t, {
    version: 1,
    agents: { "*": [{ say: "I heard {{input}}", repeat: true }] },
  });
  await dev.sees("I heard");
  const { events } = teamRef(teamsHome(t.env), "crew").paths;
  rmSync(events);
  mkdirSync(events);
  dev.type("again", "Enter");
  await dev.sees("events cannot be written: EISDIR");
  await dev.sees(/I heard[\s\S]*again/);
  expect((await teams(["kill", "dev", "--force"])).code).toBe(0);
});
