/** Deletes the data of a stream, or the stream; asks for its name first. */
import { Link } from 'wouter';
import { dataOf } from '../api/client.ts';
import type { Receiver, Stream } from '../api/models.ts';
import { useApp } from '../app/context.ts';
import { EndingDialog } from '../manage/ending-dialog.tsx';
import { LogText, Named } from '../parts/text/log-text.tsx';
import { Sheet } from '../parts/layout/sheet.tsx';

interface DeleteStreamDataProps {
  readonly stream: Stream;
  readonly onClose: () => void;
}

export function DeleteStreamData({ stream: { streamId, name }, onClose }: DeleteStreamDataProps) {
  const { api } = useApp();
  const params = { path: { streamId } };
  return (
    <EndingDialog
      name={name}
      asked="Delete the data of"
      done="Deleted the data of"
      action="Delete data"
      isTyped
      end={() => dataOf(api.DELETE('/api/v1/admin/streams/{streamId}/data', { params }))}
      onClose={onClose}
    >
      <p>
        Deletes all logs and metrics that this stream has received, permanently. Its receivers stay
        active, and new data is stored.
      </p>
    </EndingDialog>
  );
}

interface DeleteStreamProps extends DeleteStreamDataProps {
  /** A stream with receivers cannot be deleted. */
  readonly feeding: readonly Receiver[];
}

export function DeleteStream(props: DeleteStreamProps) {
  const { stream, feeding, onClose } = props;
  if (feeding.length === 0) return <DeleteUnfed {...props} />;
  return (
    <Sheet title={<Named name={stream.name} after=" still has receivers" />} onClose={onClose}>
      <p>
        A stream can be deleted once it has no receivers. Delete these, or change their stream in
        their settings:
      </p>
      <ul>
        {feeding.map(({ receiverId, name }) => (
          <li key={receiverId}>
            <Link href={`/receivers/${receiverId}?tab=settings`}>
              <LogText text={name} />
            </Link>
          </li>
        ))}
      </ul>
    </Sheet>
  );
}

function DeleteUnfed({ stream: { streamId, name }, onClose }: DeleteStreamProps) {
  const { api } = useApp();
  const params = { path: { streamId } };
  return (
    <EndingDialog
      name={name}
      asked="Delete"
      done="Deleted"
      action="Delete stream"
      isTyped
      end={() => dataOf(api.DELETE('/api/v1/admin/streams/{streamId}', { params }))}
      onClose={onClose}
    >
      <p>Deletes the stream and all of its data, permanently.</p>
    </EndingDialog>
  );
}
