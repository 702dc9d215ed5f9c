import { createInterface } from "node:readline";

/**
 * Hands on each line that a person types into this process's terminal. Without a terminal nothing is read: what stdin
 * holds then is nobody's typing.
 * @returns ends the reading
 */
export function readTypedLines(
  onLine: (line: string) => Promise<void>,
  onProblem: (error: unknown) => void,
): () => void {
  if (!process.stdin.isTTY) return () => undefined;
  const lines = createInterface({ input: process.stdin, terminal: false });
  lines.on("line", (line) => {
    if (line.trim() !== "") onLine(line).catch(onProblem);
  });
  return () => {
    lines.close();
    process.stdin.pause();
  };
}
