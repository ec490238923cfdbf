/** Tokens of a receiver. */
import { useState } from 'react';
import type { Receiver } from '../api/models.ts';
import { useTokens } from '../manage/control.ts';
import { IssueTokenSheet } from '../manage/issue-token-sheet.tsx';
import { TokenTable } from '../manage/token-table.tsx';
import { Button } from '../parts/controls/button.tsx';
import { EmptyState } from '../parts/feedback/empty-state.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Answer } from '../parts/feedback/answer.tsx';
import { Card } from '../parts/layout/page.tsx';
import styles from './receiver-tokens.module.css';

export interface ReceiverTokensProps {
  readonly receiver: Receiver;
  readonly onSecret: (tokenId: string, name: string, secret: string) => void;
}

export function ReceiverTokens({ receiver, onSecret }: ReceiverTokensProps) {
  const tokens = useTokens();
  const [isIssuing, setIsIssuing] = useState(false);
  const issue = (
    <Button tone="primary" onPress={() => setIsIssuing(true)}>
      <Icon name="plus" /> Issue a token
    </Button>
  );
  return (
    <Card>
      <Answer of={tokens} what="Loading tokens">
        {(all) => {
          const own = all.filter(({ receiverId }) => receiverId === receiver.receiverId);
          return own.length === 0 ? (
            <EmptyState title="No tokens yet" action={issue}>
              Senders need a token. Issue one per sender.
            </EmptyState>
          ) : (
            <>
              <div className={styles.head}>
                <p className="quiet">
                  Each token can send to this receiver only. Changes take effect within 5 seconds.
                </p>
                {issue}
              </div>
              <TokenTable
                caption={`Tokens of ${receiver.name}`}
                tokens={own}
                currentTokenId={undefined}
                stopping={() => `senders that use this token on ${receiver.name}`}
                onSecret={onSecret}
              />
            </>
          );
        }}
      </Answer>
      {isIssuing && (
        <IssueTokenSheet
          receiver={receiver}
          onSecret={onSecret}
          onClose={() => setIsIssuing(false)}
        />
      )}
    </Card>
  );
}
