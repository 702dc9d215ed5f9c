import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/** Makes `fs.unlinkSync` and `fs.rmSync` fail for some paths until the test ends. Root may remove any file, so modes do not suffice. */
export function failingRemovals(fails: (path: string) => boolean): void {
  const { unlinkSync, rmSync } = fs;
  const use = (unlink: typeof unlinkSync, remove: typeof rmSync): void => {
    fs.unlinkSync = unlink;
    fs.rmSync = remove;
    syncBuiltinESMExports();
  };
  const check = (path: fs.PathLike): void => {
    if (!fails(String(path))) return;
    const message = `EPERM: operation not permitted, unlink '${path}'`;
    throw Object.assign(new Error(message), { code: "EPERM", syscall: "unlink", path: String(path) });
  };
  onTestFinished(() => use(unlinkSync, rmSync));
  use(
    (path) => {
      check(path);
      unlinkSync(path);
    },
    (path, options) => {
      check(path);
      rmSync(path, options);
    },
  );
}
