import type { WorkerContext } from "../context.ts";

/**
 * Decides between tool calls whether the turn stops there: for the worker's end, a waiting shutdown request, or a typed line that
 * steers it.
 * @param by a subagent is not stopped by a typed line, which would drop its work
 */
export function stopsBetweenTools(
  { lifecycle, queue, steersTyped }: WorkerContext,
  by: "agent" | "subagent",
): boolean {
  return (
    !lifecycle.isRunning || queue.hasShutdown || (by === "agent" && steersTyped === true && queue.hasTyped)
  );
}
