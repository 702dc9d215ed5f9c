import { basename, dirname, resolve } from "node:path";
import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { isWritable } from "../../os/files/access.ts";
import { entryOf, isDirectory, readText } from "../../os/files/fs.ts";
import { run } from "../../os/process/run.ts";
import { line } from "../../terminal/output.ts";

/** The first line of every report that the built-in audit wrote. */
export const REPORT_MARK = "<!-- written by teams: audit -->";
const DEFAULT_REPORT = "AUDIT.md";

interface AuditOptions {
  readonly cwd: string;
  /** `--report`, relative to `cwd`. */
  readonly report: string | undefined;
  readonly env: Env;
}

/**
 * Checks that the built-in audit can work here, before anything is created.
 * @returns the report's absolute path
 * @throws TeamError INVALID_INPUT: no git repository, a repository that git refuses, no directory for the report, or an existing file that
 * no audit wrote; PERMISSION_DENIED if the report cannot be written; CLI_NOT_FOUND without git
 */
export async function checkAudit({ cwd, report, env }: AuditOptions): Promise<string> {
  await requireRepository(cwd, env);
  const path = resolve(cwd, report ?? DEFAULT_REPORT);
  if (!isDirectory(dirname(path))) {
    throw new TeamError(
      "INVALID_INPUT",
      `The directory ${dirname(path)} for the report does not exist; nothing was started.`,
      { hint: "Create the directory, or name another file with --report." },
    );
  }
  const entry = entryOf(path);
  if (entry !== undefined && !(entry.isFile() && isReport(path))) {
    throw new TeamError(
      "INVALID_INPUT",
      `${path} exists and was not written by an audit; the file was not changed, and nothing was started.`,
      {
        hint: `Name another file: --report ${basename(path, ".md")}-2.md`,
      },
    );
  }
  if (isWritable(entry === undefined ? dirname(path) : path)) return path;
  throw new TeamError("PERMISSION_DENIED", `The report ${path} cannot be written; nothing was started.`, {
    hint: "Name a file in a directory that you may write to, with --report.",
  });
}

function isReport(path: string): boolean {
  return readText(path)?.startsWith(REPORT_MARK) ?? false;
}

/**
 * Creates the check at the end of an audit: the report must come from this run, not from another run at the same time.
 * @param run the value of `TEAMS_RUN` for the playbook
 * @returns a function that throws TeamError MODEL_ERROR if the report does not come from this run
 */
export function reportCheck(path: string, run: string): () => void {
  const begin = `${REPORT_MARK}\n<!-- run: ${run} -->\n`;
  return () => {
    if (readText(path)?.startsWith(begin)) return;
    throw new TeamError("MODEL_ERROR", `The audit ended without its report ${path}.`, {
      hint: "Read the messages above for the reason; the team is deleted.",
    });
  };
}

async function requireRepository(cwd: string, env: Env): Promise<void> {
  const git = await run("git", ["rev-parse", "--is-inside-work-tree"], { cwd, env: { ...env, LC_ALL: "C" } });
  if (git.failure === "not-found") {
    throw new TeamError(
      "CLI_NOT_FOUND",
      "The built-in audit needs git, and git is not on the PATH; nothing was started.",
      { hint: "Install git (apt install git, brew install git)." },
    );
  }
  if (git.code === 0 && git.stdout.trim() === "true") return;
  if (git.code !== 0 && !git.stderr.includes("not a git repository")) throw refusedByGit(cwd, git.stderr);
  throw new TeamError(
    "INVALID_INPUT",
    `${cwd} is not in a git work tree, which the built-in audit needs; nothing was started.`,
    {
      hint: "Run the audit in a git repository, or play another playbook with --playbook.",
    },
  );
}

/** Creates the error for a repository that git does not open, such as another user's. @param stderr git's error and advice */
function refusedByGit(cwd: string, stderr: string): TeamError {
  const [reason = ""] = stderr.replace(/^fatal: /, "").split("\n");
  const advice = /^\s+(git .+)$/m.exec(stderr)?.[1];
  return new TeamError(
    "INVALID_INPUT",
    `The built-in audit needs a repository, and git refuses ${cwd}: ${reason || "it gave no reason"}; nothing was started.`,
    {
      hint:
        advice === undefined
          ? "Run `git status` in that directory to see the problem."
          : `If you trust the files in that directory: ${advice}`,
    },
  );
}

/**
 * Describes the scope of the built-in audit.
 * @param hasModel whether a model is set up, so that the user has named the audit
 */
export function builtInNotes(goal: string, ownMode: boolean, hasModel: boolean): string[] {
  const why = hasModel
    ? "The built-in audit plays, without a model."
    : "No model is set up: the built-in audit plays.";
  const first = `${why} Everything but the thinking is real.`;
  return [
    goal === "" ? first : line`${first} It does not read the goal: ${goal}`,
    ...(ownMode
      ? ["Its commands are fixed and known, so they run without asking; it writes only its report."]
      : []),
  ];
}
