import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Backend, SpawnRequest } from "../../../src/backend/backend.ts";
import { childEnvironment } from "../../../src/launch/agent-environment.ts";
import { endTree } from "../../../src/os/process/process-tree.ts";
import type { PlaceRecord } from "../../../src/schema/status.ts";
import type { PrivateTmux } from "../tmux/private-tmux.ts";

/** The directory of the stub agents, each with one behaviour. */
export const AGENTS = fileURLToPath(new URL("../../fixtures/agents/", import.meta.url));

export function requestFor(
  t: PrivateTmux,
  name: string,
  {
    argv,
    cwd = t.home,
    env = {},
    extraArgs = [],
  }: { argv?: string[]; cwd?: string; env?: Record<string, string>; extraArgs?: string[] } = {},
): SpawnRequest {
  const team = t.paths("audit");
  const paths = team.agent(name);
  return {
    agentId: `${name}@audit`,
    name,
    team: team.team,
    teamTitle: "Audit",
    color: "blue",
    rootTag: "0123456789ab",
    instance: randomUUID(),
    cwd,
    argv: argv ?? [`${AGENTS}ready.sh`, paths.status, paths.ready, ...extraArgs],
    env: childEnvironment(t.env, env),
    paths,
    bells: [],
  };
}

export function placesOf(outcomes: Awaited<ReturnType<Backend["spawn"]>>): PlaceRecord[] {
  return outcomes.map((outcome) => {
    if (!outcome.ok) throw outcome.error;
    return outcome.place;
  });
}

export function end(place: PlaceRecord) {
  const root = { pid: place.panePid ?? 0, procStart: place.paneProcStart ?? "" };
  return endTree({ root, marker: place.instance }, { graceMs: 1000 });
}

export async function endAll(
  backend: Backend,
  outcomes: Awaited<ReturnType<Backend["spawn"]>>,
): Promise<void> {
  const places = placesOf(outcomes);
  for (const place of places) expect(await end(place)).toEqual({ left: [] });
  await backend.close(places);
}
