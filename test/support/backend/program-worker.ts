import { spawn } from "node:child_process";
import type { RunWorker } from "../../../src/backend/in-process/resident-agent.ts";
import { systemCode } from "../../../src/errors.ts";

/**
 * A worker that runs a program, so that the stub agents can be used with the in-process backend.
 * It ignores every request to stop: it ends only when the program does.
 */
export const programWorker: RunWorker = ({ request, write }) => {
  const [file = "", ...args] = request.argv;
  return new Promise<number>((resolve) => {
    const child = spawn(file, args, {
      cwd: request.cwd,
      env: { ...request.env, PWD: request.cwd },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.on("error", (error) => {
      write(
        `${error.message}: ${systemCode(error) === "EACCES" ? "Permission denied" : "no such program"}\n`,
      );
      resolve(systemCode(error) === "EACCES" ? 126 : 127);
    });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => write(String(text)));
    child.on("close", (code) => resolve(code ?? 1));
  });
};
