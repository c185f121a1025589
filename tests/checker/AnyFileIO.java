package frazil.checker;

import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.io.SeekableInputStream;

/** iceberg-java's way to the files: local ones as they are, objects by their copies. Reads only. */
final class AnyFileIO implements FileIO {
  private final FileIO local = new HadoopFileIO(new Configuration(false));

  @Override
  public InputFile newInputFile(String location) {
    return ObjectStore.isObject(location) ? new Copy(location) : local.newInputFile(location);
  }

  @Override
  public OutputFile newOutputFile(String location) {
    throw new UnsupportedOperationException("the checker writes nothing");
  }

  @Override
  public void deleteFile(String location) {
    throw new UnsupportedOperationException("the checker deletes nothing");
  }

  /** An object under its own name. */
  private record Copy(String location) implements InputFile {
    private InputFile file() {
      return org.apache.iceberg.Files.localInput(ObjectStore.copy(location).toFile());
    }

    @Override
    public long getLength() {
      return file().getLength();
    }

    @Override
    public SeekableInputStream newStream() {
      return file().newStream();
    }

    @Override
    public boolean exists() {
      return file().exists();
    }
  }
}
