import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type EndedTeam, readEndedTeams, recordEndedTeam } from "../../../../src/team/records/ended-teams.ts";
import type { Home } from "../../../../src/team/ref.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const RUN = { outcome: "completed", durationMs: 1, tokens: 2, costUsd: 0 };

function ended(at: number, more: Partial<EndedTeam> = {}): EndedTeam {
  const leadSessionId = `lead-${at}`;
  const sessions = [{ agent: "team-lead", sessionId: leadSessionId }];
  return { team: "crew", createdAt: at, endedAt: at, cwd: "/w", leadSessionId, sessions, ...more };
}

function home(): Home {
  const root = temporaryDirectory();
  return { root, runtime: root };
}

it("recordEndedTeam › keeps the newest teams, and cuts a long result", async () => {
  const own = home();
  for (let at = 1; at <= 202; at += 1)
    await recordEndedTeam(own, ended(at, { run: { ...RUN, result: "x".repeat(5_000) } }));
  const teams = readEndedTeams(own);
  expect([teams.length, teams[0]?.endedAt, teams.at(-1)?.endedAt]).toEqual([200, 3, 202]);
  expect(teams[0]?.run?.result).toHaveLength(1_000);
});

it("recordEndedTeam › joins the entries of one lead, and keeps its run when the team is deleted", async () => {
  const own = home();
  const ann = { agent: "ann", sessionId: "ann-1" };
  await recordEndedTeam(own, ended(1, { run: { ...RUN, result: "Three." } }));
  await recordEndedTeam(own, ended(2));
  await recordEndedTeam(own, ended(1, { endedAt: 3, sessions: [ann] }));
  expect(readEndedTeams(own)).toMatchObject([
    { endedAt: 2 },
    { endedAt: 3, run: { result: "Three." }, sessions: [ann, { agent: "team-lead", sessionId: "lead-1" }] },
  ]);
});

it("recordEndedTeam › loses no entry of teams that end at the same time", async () => {
  const own = home();
  await Promise.all(Array.from({ length: 20 }, (_, at) => recordEndedTeam(own, ended(at))));
  expect(readEndedTeams(own)).toHaveLength(20);
});

it("readEndedTeams › leaves out broken entries, and starts again after a broken file", async () => {
  const own = home();
  const file = join(own.root, "teams-ended.json");
  writeFileSync(file, JSON.stringify({ teams: [{ team: 5 }, null, ended(1)] }));
  expect(readEndedTeams(own)).toEqual([ended(1)]);
  writeFileSync(file, "{");
  expect(readEndedTeams(own)).toEqual([]);
  await recordEndedTeam(own, ended(2));
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ teams: [ended(2)] });
});
