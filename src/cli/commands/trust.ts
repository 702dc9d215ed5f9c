import { resolve } from "node:path";
import { TeamError } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { isDirectory } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { isShortFile } from "../../os/files/user-files.ts";
import { deciderOf } from "../../runtime/select-team.ts";
import { describePart, unconfirmedParts } from "../../settings/project-parts.ts";
import { listTrust, type PartOfFile, setTrust } from "../../settings/trust.ts";
import { teamsHome } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line } from "../../terminal/output.ts";
import { table } from "../../terminal/table.ts";
import { isoTime, localTime } from "../../text/local-time.ts";
import { defineCommand, usageError } from "../command.ts";
import { partLine } from "../trust-prompt.ts";

export const command = defineCommand({
  name: "trust",
  ignoresTeamOptions: true,
  summary: "Trust a directory's settings, hooks, MCP servers and agents",
  args: [{ name: "directory", summary: "the directory (default: this one), or a team file", optional: true }],
  options: {
    changes: { summary: "show what a confirmation would add, and confirm nothing" },
    list: { summary: "list the directories that you have decided about" },
    revoke: { summary: "no longer trust it" },
  },
  examples: ["teams trust", "teams trust team.json", "teams trust ~/src/site --revoke"],
  notes:
    "A project's files (settings with hooks, env and allow rules, MCP servers, agent files) can run commands as you.\n" +
    "Until you trust its directory, they can only take rights away. All worktrees of a repository are trusted together.\n" +
    "Trust covers contents: a later change is ignored until you confirm it by trusting again.\n" +
    "Trusting a team file trusts its directory, and confirms only this file and the files that it includes.\n" +
    "Running agents use the directory's rules from their next call, and everything else after a restart.",
  async run(call) {
    const { args, options, out } = call;
    if (options.list) {
      if (options.revoke || options.changes || args.directory !== undefined)
        throw usageError(command, "accepts --list only alone.");
      printList(call);
      return;
    }
    const { root } = teamsHome(call.io.env);
    const home = homeDirectory(call.io.env);
    const file = args.directory === undefined ? undefined : resolve(call.io.cwd, args.directory);
    if (file !== undefined && !options.revoke && isShortFile(file)) {
      if (!options.changes) requirePerson(call);
      const { trustTeamFile } = await import("../up/confirm-file.ts");
      await trustTeamFile(call, args.directory ?? "", { onlyShow: options.changes });
      return;
    }
    if (options.changes) {
      if (options.revoke) throw usageError(command, "accepts --changes without --revoke.");
      const parts = await unconfirmedParts({ root, home, cwd: existingDirectory(call, args.directory) });
      out.answer({ parts: parts.map(describePart) }, () => listOf(parts) || "There is nothing to confirm.");
      return;
    }
    const directory = directoryToTrust(call, args.directory, { root, revoke: options.revoke });
    const parts = options.revoke ? [] : await unconfirmedParts({ root, home, cwd: directory });
    const { directory: repository, before } = await setTrust(
      root,
      directory,
      options.revoke ? undefined : true,
      systemClock,
      parts,
    );
    const trusted = !options.revoke;
    const confirmed = parts.map(describePart);
    out.done({ directory: repository, trusted, changed: (before === true) !== trusted, confirmed }, () => {
      if (trusted) {
        const what =
          before !== true ? "is now trusted" : parts.length > 0 ? "is still trusted" : "was already trusted";
        const list = parts.length === 0 ? "" : `\nConfirmed:\n${listOf(parts)}`;
        return `${line`${repository} ${what}.`}${list}`;
      }
      return before === true
        ? line`${repository} is no longer trusted.`
        : line`${repository} was not trusted.`;
    });
  },
});

/** @throws TeamError PERMISSION_DENIED for an agent, INVALID_INPUT if it is not a directory */
function directoryToTrust(
  { io }: Pick<AnyCall, "io">,
  given: string | undefined,
  { root, revoke }: { readonly root: string; readonly revoke: boolean },
): string {
  requirePerson({ io });
  const directory = realPathOf(resolve(io.cwd, given ?? "."));
  // A directory that was trusted may be gone.
  if (revoke && listTrust(root).some((one) => one.directory === directory)) return directory;
  return existingDirectory({ io }, given);
}

/** @throws TeamError PERMISSION_DENIED for an agent */
function requirePerson({ io }: Pick<AnyCall, "io">): void {
  if (deciderOf(io.env) !== "model") return;
  throw new TeamError("PERMISSION_DENIED", "Only a person can trust a directory; nothing was changed.", {
    hint: "Ask the user to do it.",
  });
}

/** @throws TeamError INVALID_INPUT if it is not a directory */
function existingDirectory({ io }: Pick<AnyCall, "io">, given: string | undefined): string {
  const directory = resolve(io.cwd, given ?? ".");
  if (isDirectory(directory)) return directory;
  throw new TeamError("INVALID_INPUT", `${directory} is not a directory; nothing was changed.`, {
    hint: "Name an existing directory: teams trust <directory>",
  });
}

function listOf(parts: readonly PartOfFile[]): string {
  return parts.map(partLine).join("").trimEnd();
}

function printList({ io, out }: AnyCall): void {
  const directories = listTrust(teamsHome(io.env).root);
  const shown = directories.map((one) => ({ ...one, at: isoTime(one.at) }));
  out.answer({ directories: shown }, () => {
    if (directories.length === 0) return "No directory is trusted.";
    const rows = directories.map(({ directory, trusted, at, parts }) => [
      directory,
      trusted ? "yes" : "no",
      trusted ? (parts === null ? "to be confirmed" : String(parts)) : "",
      localTime(at),
    ]);
    return table(["DIRECTORY", "TRUSTED", "PARTS", "SINCE"], rows, { columns: out.columns });
  });
}
