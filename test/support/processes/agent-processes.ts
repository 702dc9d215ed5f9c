import { execFileSync } from "node:child_process";
import { readTeam } from "../../../src/team/config/config.ts";
import type { TeamRef } from "../../../src/team/ref.ts";

/** Lists the processes of a team's agent, without its launch scripts. */
export function agentsOf(ref: TeamRef, name: string): number[] {
  const { leadSessionId } = readTeam(ref);
  const listed = execFileSync("ps", ["-axwwo", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  const rows = listed.flatMap((row) => {
    const [, pid, ppid, words = ""] = /^ *(\d+) +(\d+) (.*)/.exec(row) ?? [];
    const isOfTeam = words.includes(`--agent-id ${name}@${ref.team}`) && words.includes(leadSessionId);
    return isOfTeam && !words.startsWith("/bin/sh") ? [{ pid: Number(pid), ppid: Number(ppid) }] : [];
  });
  // A child that has not executed its program yet still looks like its parent.
  return rows.filter(({ ppid }) => !rows.some(({ pid }) => pid === ppid)).map(({ pid }) => pid);
}
