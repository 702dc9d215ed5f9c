import { basename, dirname, resolve } from "node:path";
import { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import { entryOf, isDirectory, readText } from "../os/files/fs.ts";
import { run } from "../os/process/run.ts";

/** The first line of every report that the built-in audit wrote. */
export const REPORT_MARK = "<!-- written by teams: audit -->";
const DEFAULT_REPORT = "AUDIT.md";

interface AuditOptions {
  readonly cwd: string;
  /** `--report`; a path from here. */
  readonly report: string | undefined;
  readonly env: Env;
}

/**
 * Checks before anything is made that the built-in audit can do its work here.
 * @returns the report's absolute path
 * @throws TeamError INVALID_INPUT: no git repository, no place for the report, or a file there that is somebody else's;
 * CLI_NOT_FOUND without git
 */
export async function checkAudit({ cwd, report, env }: AuditOptions): Promise<string> {
  await requireRepository(cwd, env);
  const path = resolve(cwd, report ?? DEFAULT_REPORT);
  if (!isDirectory(dirname(path))) {
    throw new TeamError("INVALID_INPUT", `There is no directory ${dirname(path)} for the report.`, {
      hint: "Make it first, or name another file with --report.",
    });
  }
  const entry = entryOf(path);
  if (entry === undefined) return path;
  if (entry.isFile() && isReport(path)) return path;
  throw new TeamError(
    "INVALID_INPUT",
    `${path} is there and was not written by an audit; it was left as it is.`,
    {
      hint: `Name another file: --report ${basename(path, ".md")}-2.md`,
    },
  );
}

function isReport(path: string): boolean {
  return readText(path)?.startsWith(REPORT_MARK) ?? false;
}

/**
 * What holds at the end of an audit: the report is this run's, and not one of another at the same time.
 * @param run what the playbook was told in `TEAMS_RUN`
 * @returns throws TeamError MODEL_ERROR when it is not
 */
export function reportCheck(path: string, run: string): () => void {
  const begin = `${REPORT_MARK}\n<!-- run: ${run} -->\n`;
  return () => {
    if (readText(path)?.startsWith(begin)) return;
    throw new TeamError("MODEL_ERROR", `The audit ended without its report ${path}.`, {
      hint: "What stopped it is said above; nothing of the team is left.",
    });
  };
}

async function requireRepository(cwd: string, env: Env): Promise<void> {
  const git = await run("git", ["rev-parse", "--is-inside-work-tree"], { cwd, env });
  if (git.failure === "not-found") {
    throw new TeamError("CLI_NOT_FOUND", "The built-in audit needs git, and git is not on the PATH.", {
      hint: "Install git (apt install git, brew install git).",
    });
  }
  if (git.code === 0 && git.stdout.trim() === "true") return;
  throw new TeamError(
    "INVALID_INPUT",
    `${cwd} is not inside a git work tree, and the built-in audit audits one.`,
    {
      hint: "Run it in a git repository, or play another playbook with --playbook.",
    },
  );
}
