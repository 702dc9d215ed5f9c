import type { EnvironmentFacts } from "../../agent/prompts/default-prompt.ts";
import { checkoutOf } from "../../git/repository.ts";
import type { OperationContext } from "../../operations/context.ts";

/**
 * Returns the directory, date and repository at an agent's start. Call it once per agent: a changed system prompt misses the
 * server's prompt cache.
 */
export function environmentFacts({
  cwd,
  clock,
}: Pick<OperationContext, "cwd" | "clock">): Pick<EnvironmentFacts, "cwd" | "today" | "repository"> {
  return { cwd, today: dayOf(clock.now()), repository: repositoryLine(cwd) };
}

function repositoryLine(cwd: string): string | undefined {
  const checkout = checkoutOf(cwd);
  if (checkout === undefined) return undefined;
  const branch = checkout.branch === undefined ? "" : `, on the branch ${checkout.branch}`;
  return checkout.isLinked
    ? `It is in a separate git worktree${branch} when you began: others work in the repository's other worktrees.`
    : `It is in a git repository${branch} when you began.`;
}

/** The local date, as 2026-01-31. */
function dayOf(ms: number): string {
  const day = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
