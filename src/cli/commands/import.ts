import { resolve } from "node:path";
import { EXIT, TeamError } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { entryOf, isDirectory } from "../../os/files/fs.ts";
import { refuseSecondTeam } from "../../runtime/operation-context.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { ImportedTeam } from "../../team/archive/import-team.ts";
import { teamsHome } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line } from "../../terminal/output.ts";
import { operand } from "../../text/shell-quote.ts";
import { defineCommand } from "../command.ts";
import { pluralized } from "../option-values.ts";

export const command = defineCommand({
  name: "import",
  ignoresTeamOptions: true,
  summary: "Create a team from an archive of `teams export`",
  args: [{ name: "archive", summary: "the archive's file; - reads stdin" }],
  options: {
    name: { value: "name", summary: "the team's name (default: its name in the archive)" },
    unique: { summary: "use name-2, name-3, … if the name is taken" },
  },
  examples: ["teams import review-20260102-174500.tar.gz", "teams import review.tar.gz --name review-again"],
  notes:
    "No agent is started. `teams resume` restarts the members with their conversations.\n" +
    "An archive may come from others: rights of its members (allowed tools, modes, directories, system prompts) are dropped and named.\n" +
    "The third-party CLIs that a restart would run are named too.",
  async run(call) {
    const { args, options, io, out } = call;
    refuseSecondTeam(call, "create a team");
    const { importTeam } = await import("../../team/archive/import-team.ts");
    const source = await openArchive(call, args.archive);
    const signal = io.interruption();
    const { name, unique } = options;
    const target = { name, unique, cwd: io.cwd, now: systemClock.now(), signal };
    const imported = await importTeam(teamsHome(io.env), source, target).catch((error: unknown) => {
      // No team was created: unpacked files are removed by now.
      if (signal.aborted) return undefined;
      throw error;
    });
    if (imported === undefined) return EXIT.interrupted;
    out.done(reportJson(imported), () => reportText(imported));
    return EXIT.done;
  },
});

/** Opens the archive's file or stdin. @throws TeamError INVALID_INPUT for a missing file, a directory or a terminal */
async function openArchive({ io }: AnyCall, archive: string): Promise<AsyncIterable<Uint8Array>> {
  if (archive === "-") {
    if (!io.terminal.stdin) return io.bytesIn();
    throw new TeamError("INVALID_INPUT", "An archive cannot be read from a terminal; no team was created.", {
      hint: "Name the archive's file, or use a pipe: … | teams import -",
    });
  }
  const path = resolve(io.cwd, archive);
  const problem =
    entryOf(path) === undefined ? "does not exist" : isDirectory(path) ? "is a directory" : undefined;
  if (problem !== undefined) {
    throw new TeamError("INVALID_INPUT", `${path} ${problem}; no team was created.`, {
      hint: "Name a file that `teams export` wrote.",
    });
  }
  const { openedBytes } = await import("../../os/files/tar.ts");
  return openedBytes(path);
}

function reportJson(imported: ImportedTeam): object {
  const { ref, received, dropped } = imported;
  const { manifest, config, tasks, freed, requests, grants } = received;
  return {
    team: ref.team,
    from: manifest.team,
    savedAt: manifest.at,
    members: config.members.map(({ name }) => name),
    tasks,
    freed,
    closedRequests: requests,
    dropped,
    programs: programsOf(imported),
    settledGrants: grants,
    config: ref.paths.config,
  };
}

/** Returns the members that third-party CLIs work for. */
function programsOf({ received }: ImportedTeam): readonly { readonly name: string; readonly cli: string }[] {
  return received.config.members.flatMap((member) => {
    const cli = readMetadata(member, "cli");
    return cli === undefined ? [] : [{ name: member.name, cli }];
  });
}

/** Returns the command that continues with the imported team. */
function nextCommand({ ref, received: { config } }: ImportedTeam): string {
  const hasAgents = config.members.some(({ name }) => name !== LEAD_NAME);
  return `teams ${hasAgents ? "resume" : "status"} ${operand(ref.team)}`;
}

function reportText(imported: ImportedTeam): string {
  const { ref, received, dropped } = imported;
  const { config, tasks, freed, requests, grants } = received;
  const programs = programsOf(imported);
  const contents = `${pluralized(config.members.length, "member")}, ${pluralized(tasks, "task")}`;
  const free = freed.map((id) => `#${id}`).join(", ");
  return [
    line`Imported team ${ref.team}: ${contents}.`,
    ...(freed.length === 0 ? [] : [line`Unassigned tasks, since their owners have ended: ${free}.`]),
    ...(requests === 0 ? [] : [line`Closed: ${pluralized(requests, "request")} of members that have ended.`]),
    ...(grants === 0
      ? []
      : [line`Marked as read: ${pluralized(grants, "message")} that would change rights.`]),
    ...(dropped.length === 0 ? [] : ["Dropped, since an archive may come from others:"]),
    ...dropped.map(({ name, rights }) => line`  ${name}: ${rights.join("; ")}`),
    ...(programs.length === 0 ? [] : ["A restart runs these programs with your login:"]),
    ...programs.map(({ name, cli }) => line`  ${name}: ${cli}`),
    line`Next: ${nextCommand(imported)}`,
  ].join("\n");
}
