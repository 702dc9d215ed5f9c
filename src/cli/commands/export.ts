import { EXIT, TeamError } from "../../errors.ts";
import { namedTeam, openTeam } from "../../runtime/select-team.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand } from "../command.ts";
import { formatBytes } from "../option-values.ts";

export const command = defineCommand({
  name: "export",
  summary: "Save a team as one archive with its messages, tasks and conversations",
  args: [{ name: "name", summary: "the team", optional: true }],
  options: {
    output: {
      short: "o",
      value: "file",
      summary: "the archive's file; - writes to stdout (default: ./<team>-<date>-<time>.tar.gz)",
    },
  },
  examples: [
    "teams export review",
    "teams export review -o backups/review.tar.gz",
    "teams export review -o - | ssh build teams import -",
  ],
  notes:
    "The team can keep working during the export. The archive contains whole conversations: keep it as safe as those.",
  async run({ args, options, io, out }) {
    const { ref } = openTeam(io.env, { ...options, team: namedTeam(io.env, options, args.name) });
    const { BUSY_NOTE, saveTeam, worktreeLines } = await import("../../runtime/commands/archive-file.ts");
    if (options.output === "-" || STDOUT_FILES.has(options.output ?? "")) {
      if (io.terminal.stdout) throw terminalOutputError();
      const { exportTeam } = await import("../../team/archive/export-team.ts");
      const { bytes, consistent } = await exportTeam(ref);
      await io.bytesOut(bytes);
      if (!consistent) out.note(BUSY_NOTE);
      return EXIT.done;
    }
    const signal = io.interruption();
    const saving = saveTeam(ref, { cwd: io.cwd, file: options.output, signal });
    const saved = await saving.catch((error: unknown) => {
      // Nothing was saved: the unfinished file is removed by now.
      if (signal.aborted) return undefined;
      throw error;
    });
    if (saved === undefined) return EXIT.interrupted;
    if (!saved.consistent) out.note(BUSY_NOTE);
    out.done({ team: ref.team, ...saved }, () =>
      [
        line`Saved team ${ref.team}: ${saved.file} (${formatBytes(saved.bytes)}, ${saved.files} files)`,
        ...worktreeLines(saved),
      ].join("\n"),
    );
    return EXIT.done;
  },
});

/** Paths of stdout: the command's other output would overwrite an archive that is written through these paths. */
const STDOUT_FILES: ReadonlySet<string> = new Set(["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]);

function terminalOutputError(): TeamError {
  return new TeamError("INVALID_INPUT", "An archive cannot be written to a terminal; nothing was saved.", {
    hint: "Name a file with -o, or use a pipe: teams export -o - | …",
  });
}
