import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Crew } from "./crew.ts";

/** Number of the last requests to the model that a diagnosis shows. */
const SHOWN = 8;

/** Writes the state after a failed row: the team's status and records, its screens, and the last requests to the model. */
export async function writeDiagnosis(crew: Crew, row: string, why: string): Promise<void> {
  const requests = crew.model.requests.slice(-SHOWN).map(({ path, ask, reply }) => ({
    path,
    model: ask.model,
    tools: ask.tools.length,
    pieces: ask.pieces.slice(-4).map((piece) => JSON.stringify(piece).slice(0, 1500)),
    reply,
  }));
  const panes = crew.tmux("list-panes", "-a", "-F", "#{pane_id}").split("\n");
  const screens = panes.map((paneId) => `== ${paneId}\n${screenOf(crew, paneId)}`);
  const commands = [["status"], ["approvals"], ["inbox", "team-lead", "--all"]];
  const outputs = await Promise.all(commands.map((words) => crew.teams(...words)));
  const team = join(crew.home, ".claude/teams/crew");
  const run = join(team, "run");
  // Before its first member, a team has no such directory.
  const files = existsSync(run) ? readdirSync(run, { recursive: true, encoding: "utf8" }) : [];
  const records = files
    .filter((file) => /(hook|status)\.json$/.test(file))
    .map((file) => `${file}: ${readFileSync(join(run, file), "utf8")}`);
  const parts = [
    why,
    ...records,
    readFileSync(join(team, "config.json"), "utf8"),
    ...outputs.map(({ out, err }) => out + err),
    ...screens,
    JSON.stringify(requests, undefined, 1),
  ];
  writeFileSync(join(crew.home, `failed-${row}.txt`), parts.join("\n\n"));
}

function screenOf(crew: Crew, paneId: string): string {
  try {
    return crew.screen({ paneId }).trimEnd();
  } catch {
    return "closed meanwhile";
  }
}
