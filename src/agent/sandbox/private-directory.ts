import { join } from "node:path";
import { createWhole } from "../../os/files/atomic-write.ts";
import { ensureDir } from "../../os/files/fs.ts";
import { createProcessDirectory } from "../../os/process/process-directory.ts";

/** The private files of one sandbox, in a directory that only this user can enter. */
export interface PrivateDirectory {
  readonly tmp: string;
  readonly varTmp: string;
  /** An empty file that appears in the place of hidden files. */
  readonly emptyFile: string;
  readonly proxySocket: string;
  remove(): void;
}

/** Creates the directory and its files. @throws TeamError PERMISSION_DENIED */
export function createPrivateDirectory(): PrivateDirectory {
  const { path, remove } = createProcessDirectory("sandbox");
  const [tmp, varTmp, emptyFile] = [join(path, "tmp"), join(path, "var-tmp"), join(path, "empty")];
  for (const directory of [tmp, varTmp]) ensureDir(directory);
  createWhole(emptyFile, "");
  return { tmp, varTmp, emptyFile, proxySocket: join(path, "proxy"), remove };
}
